package console // import "github.com/keystile/keystile/gateway/console"

import "context"
import "encoding/json"
import "github.com/keystile/keystile/gateway/billing"
import "github.com/keystile/keystile/gateway/usage"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/access"
import "github.com/keystile/keystile/storage/apikey"
import "github.com/keystile/keystile/storage/client"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/event"
import "github.com/keystile/keystile/storage/nodes"
import "github.com/keystile/keystile/storage/toolplan"
import "log/slog"
import "net/http"
import "net/netip"
import "time"

type Archive interface {
	Search(ctx context.Context, q event.Query) (event.Page, error)
	State(ctx context.Context) (event.TrailState, error)
	Verify(ctx context.Context, read func(records int)) (event.TrailReport, error)
}

type Bus interface {
	CallFor(r *http.Request, caller storage.Caller, name string, arguments json.RawMessage) (json.RawMessage, error)
	Open() bool
	OpenBy() string
	Reload(ctx context.Context) error
	Sees(ctx context.Context, v access.Viewer, after string, n int) (all []access.Verdict, next string, err error)
	ToolsOf(member string) []toolplan.Tool
	Unlisted(n int) (names []string, count int)
}

type Config struct {
	BaseURL  string
	Store    Store
	Visitors Visitors
	Users    Users
	Revoker  Revoker
	Trail    Trail
	Billing  *billing.Billing
	Visit    func(r *http.Request) (storage.Session, storage.User, error)
	SignIn   SignIn
	Forms    Forms
	Lockout  Lockout
	Usage    Usage
	Registry Registry
	Bus      Bus
	Ways     access.Ways
	Nodes    Nodes
	Notifier Notifier
	Forget   func(clientID string)
	Origins  []string
	Archive  Archive
	Keys     Keys
	Vitals   func(ctx context.Context) []Vital
	Settings func() []Setting
	Stored   func() Server
	Counters func() Server
	Delays   interface {
		UnlockUser(ctx context.Context, u storage.User) bool
		WaitUntil(ctx context.Context, u storage.User) (until time.Time, known bool)
	}
	Passwords interface {
		SetPassword(ctx context.Context, sub string, password string) error
	}
	FactorsPage    string
	InvitationPage string
	ClientIP       func(*http.Request) netip.Addr
	Log            *slog.Logger
}

type Console struct{ _ []struct{} }

func (*Console) Close(context.Context) error
func (*Console) Forget(sub string)
func (*Console) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
})
func (*Console) OpenAPI() []byte
func (*Console) Patterns() []string
func (*Console) ServeHTTP(w http.ResponseWriter, r *http.Request)

type Forms interface {
	KeepForm(w http.ResponseWriter, r *http.Request, session string, body []byte, what string, fields [][2]string) error
	KeptForm(w http.ResponseWriter, r *http.Request) (session string, err error)
}

func FreePaths() []string

type Keys interface {
	RetireKey(ctx context.Context, kid string) error
	RotateKey(ctx context.Context, alg string) (storage.SigningKey, error)
	SigningAlg() string
	SigningKeys(ctx context.Context) ([]storage.SigningKey, error)
}

type Lockout interface {
	Unlock(ctx context.Context, ip netip.Addr) bool
}

func New(_ context.Context, c Config) (*Console, error)

type Nodes interface {
	List(ctx context.Context) ([]nodes.Info, error)
}

type Notifier interface {
	Notify(ctx context.Context, sub string, n event.Notice)
}

type Registry interface {
	AcceptBody(ctx context.Context, actor storage.User, member string, body []byte) error
	BeginReading(ctx context.Context, actor string) (_ context.Context, leave func(), err error)
	OffBus(c storage.Capability) string
	PinsBody(ctx context.Context, actor storage.User, member string) (json.RawMessage, error)
	PreviewBody(ctx context.Context, actor storage.User,
		body []byte) (storage.Capability, []toolplan.Tool, []string, error)
	RegisterBody(ctx context.Context, actor storage.User, body []byte) (storage.Capability, []string, error)
	Remove(ctx context.Context, actor storage.User, member string) error
	SetPublished(ctx context.Context, actor storage.User, member string, on bool) (storage.Capability, error)
	UpdateBody(ctx context.Context, actor storage.User, member string, body []byte) (storage.Capability, []string, error)
}

type Revoker interface {
	Revoke(ctx context.Context, rs ...driver.Revocation) error
}

type Server struct {
	Kind    string
	Version string
	At      string
	Bytes   int64
	Away    bool
	Since   time.Time
}

type Setting struct {
	Key     string
	Value   string
	Source  string
	Default string
	Help    string
}

type SignIn interface {
	AskFor(w http.ResponseWriter, r *http.Request, path string) error
}

type Store interface {
	CreateAPIKey(ctx context.Context, k apikey.Key, life time.Duration) (apikey.Key, error)
	EndLogins(ctx context.Context, some ...storage.Login) error
	appStore
	settledStore
	clientStore
	userStore
	sessionStore
	grantStore
	credentialStore
	capabilityStore
	accessStore
	serviceStore
}

type Trail interface {
	NoteNow(ctx context.Context, e event.Event) error
}

type Usage interface {
	Calls(ctx context.Context, apps []string, from time.Time, to time.Time) (map[string]usage.Row, error)
	Figures(ctx context.Context, q usage.FiguresQuery) (usage.Figures, error)
	Top(ctx context.Context, q usage.TopQuery) ([]usage.TopEntry, error)
	Usage(ctx context.Context, q usage.Query) (usage.Answer, error)
}

type Users interface {
	Create(ctx context.Context, u storage.User, password string) (storage.User, error)
}

type Visitors interface {
	Proved(ctx context.Context, v storage.Session) (bool, error)
	Visitor(r *http.Request) (storage.Session, error)
}

type Vital struct {
	Name  string
	Value string
	Well  bool
	Says  string
}

type accessStore interface {
	Access(ctx context.Context, member string) (access.List, error)
	AccessLists(ctx context.Context, from string, n int) ([]access.List, string, error)
	Bundle(ctx context.Context, name string) (access.Bundle, error)
	Bundles(ctx context.Context, from string, n int) ([]access.Bundle, string, error)
	DeleteBundle(ctx context.Context, b access.Bundle) error
	SaveAccess(ctx context.Context, l access.List) (access.List, error)
	SaveBundle(ctx context.Context, b access.Bundle) (access.Bundle, error)
}

type appStore interface {
	App(ctx context.Context, id string) (storage.App, error)
	Apps(ctx context.Context, owner string, from string, n int) ([]storage.App, string, error)
	AppsAndUsers(ctx context.Context, ids []string, subs []string) ([]storage.App, []storage.User, error)
	CreateApp(ctx context.Context, a storage.App, most int, limit storage.Quota) (storage.App, error)
	FindApps(ctx context.Context, prefix string, owner string, from string, n int) ([]storage.App, string, error)
	GiveApp(ctx context.Context, a storage.App, owner string) (storage.App, error)
	Order(ctx context.Context, id string) (storage.Order, error)
	Orders(ctx context.Context, q storage.OrderQuery, from string, n int) ([]storage.Order, string, error)
	OwnedBy(ctx context.Context, owner string, apps int, orders int,
		capabilities int) (_ []storage.App, more bool, _ []storage.Order, _ []storage.Capability, err error)
	SaveApp(ctx context.Context, a storage.App) (storage.App, error)
}

type capabilityStore interface {
	Capabilities(ctx context.Context, owner string, from string, n int) ([]storage.Capability, string, error)
	Capability(ctx context.Context, member string) (storage.Capability, error)
	Deliveries(ctx context.Context, member string) ([]storage.Delivery, error)
	Held(ctx context.Context, member string) (toolplan.Held, error)
	SaveDelivery(ctx context.Context, d storage.Delivery) (storage.Delivery, error)
	Tools(ctx context.Context, member string) (storage.Capability, []toolplan.Tool, error)
	UserWebhook(ctx context.Context) (url string, secret storage.Secret, err error)
}

type clientStore interface {
	ClientHost(ctx context.Context, host string) (client.Host, error)
	ClientHostsFrom(ctx context.Context, from string, n int) ([]client.Host, string, error)
	Clients(ctx context.Context, from string, n int) ([]storage.App, string, error)
	ForgetClientHost(ctx context.Context, h client.Host) error
	MayHaveStrangers(ctx context.Context) (bool, error)
	RemoveClient(ctx context.Context, a storage.App) error
	SetClientHost(ctx context.Context, host string, denied bool) (client.Host, error)
}

type credentialStore interface {
	APIKeys(ctx context.Context, sub string) ([]apikey.Key, error)
	Factors(ctx context.Context, sub string) (storage.Factors, error)
	RemoveAPIKey(ctx context.Context, id string) error
	SaveFactors(ctx context.Context, f storage.Factors) (storage.Factors, error)
}

type grantStore interface {
	Consent(ctx context.Context, appID string, sub string) (storage.Consent, error)
	ConsentsOf(ctx context.Context, sub string, from string, n int) ([]storage.Consent, string, error)
	ConsentsOfApp(ctx context.Context, appID string, from string, n int) ([]storage.Consent, string, error)
	EndConsent(ctx context.Context, c storage.Consent) error
	EndOpenID(ctx context.Context, appID string, sub string, at time.Time) error
	OpenID(ctx context.Context, appID string, sub string) (storage.OpenID, error)
	UserGrants(ctx context.Context, sub string) (storage.User, []storage.Consent, []storage.OpenID, error)
}

type serviceStore interface {
	Counts(ctx context.Context) (storage.Counts, error)
	Ready(ctx context.Context) error
	Rekeying(ctx context.Context) (bool, error)
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
	SealedWith(ctx context.Context) (string, error)
	Set(ctx context.Context, name string, value string) error
	Settings(ctx context.Context) ([]storage.Setting, error)
}

type sessionStore interface {
	EndSession(ctx context.Context, v storage.Session, told ...storage.Delivery) error
	FindSessions(ctx context.Context, q storage.SessionQuery, from string, n int) ([]storage.Session, string, error)
	SID(ctx context.Context, root string, appID string) (string, error)
	Session(ctx context.Context, id string) (storage.Session, error)
	Sessions(ctx context.Context, sub string) ([]storage.Session, error)
}

type settledStore interface {
	AppToSettle(ctx context.Context, id string) (storage.Settling, error)
	AppsToSettle(ctx context.Context, owner string, after string, n int) (storage.Settling, error)
	ClosedAppsToSettle(ctx context.Context, owner string, after string, n int) (storage.Settling, error)
}

type userStore interface {
	CountOwned(ctx context.Context, sub string) (apps int, capabilities int, err error)
	EraseUser(ctx context.Context, sub string, looksOfName func(username string) []string) error
	FindUsers(ctx context.Context, prefix string, from string, n int) ([]storage.User, string, error)
	FindUsersWithRole(ctx context.Context, role string, prefix string, from string, n int) ([]storage.User, string, error)
	Logins(ctx context.Context, sub string) ([]storage.Login, error)
	SaveInvitation(ctx context.Context, i storage.Invitation) (storage.Invitation, error)
	SaveUser(ctx context.Context, u storage.User) (storage.User, error)
	SaveUserKeepingAdmin(ctx context.Context, u storage.User) (storage.User, error)
	User(ctx context.Context, sub string) (storage.User, error)
	Users(ctx context.Context, from string, n int) ([]storage.User, string, error)
}
