package signin // import "github.com/keystile/keystile/oauth/signin"

import "context"
import "github.com/keystile/keystile/oauth/signin/connector"
import "github.com/keystile/keystile/oauth/signin/passwords"
import "github.com/keystile/keystile/oauth/signin/users"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/access"
import "github.com/keystile/keystile/storage/apikey"
import "github.com/keystile/keystile/storage/authn"
import "github.com/keystile/keystile/storage/counters"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/event"
import "log/slog"
import "net/http"
import "net/netip"
import "time"

type AccountStore interface {
	APIKeys(ctx context.Context, sub string) ([]apikey.Key, error)
	Consents(ctx context.Context, sub string) ([]storage.Consent, error)
	CreateAPIKey(ctx context.Context, k apikey.Key, life time.Duration) (apikey.Key, error)
	EndConsent(ctx context.Context, c storage.Consent) error
	EndOpenID(ctx context.Context, appID string, sub string, at time.Time) error
	Factors(ctx context.Context, sub string) (storage.Factors, error)
	OpenID(ctx context.Context, appID string, sub string) (storage.OpenID, error)
	OpenIDs(ctx context.Context, sub string) ([]storage.OpenID, error)
	RemoveAPIKey(ctx context.Context, id string) error
	SaveFactors(ctx context.Context, f storage.Factors) (storage.Factors, error)
	ConsentStore
	users.LoginStore
}

type Audit interface {
	Note(e event.Event)
	NoteNow(ctx context.Context, e event.Event) error
}

type Config struct {
	BaseURL         string
	Store           Store
	Users           users.Host
	Passwords       *passwords.Hasher
	ClientIP        func(*http.Request) netip.Addr
	Lock            counters.Lock
	Lockout         counters.Addresses
	Delays          counters.Accounts
	Counter         counters.Counter
	SessionIdle     time.Duration
	SessionMax      time.Duration
	Connectors      []connector.Connector
	NoQR            bool
	Mailer          Mailer
	SignUp          string
	Tools           Tools
	MFA             authn.Policy
	RefreshLifetime time.Duration
	Revoker         Revoker
	Audit           Audit
	Records         interface {
		Search(ctx context.Context, q event.Query) (event.Page, error)
	}
	ConnectorSignUp   map[string]string
	ProfileAttributes []string
	DeleteAccount     string
	Contact           string
	Console           string
	Place             func(netip.Addr) string
	Log               *slog.Logger
}

func (Config) InvitationPage() string
func (Config) Ways() access.Ways

type ConsentStore interface {
	Consent(ctx context.Context, appID string, sub string) (storage.Consent, error)
	KeepClient(ctx context.Context, id string) error
	SaveConsent(ctx context.Context, c storage.Consent) (storage.Consent, error)
}

const DeleteAsk = "ask"

const DeleteOff = "off"

const DeleteSelf = "self"

type DeviceStore interface {
	Admits(ctx context.Context, a storage.App, u storage.User) (bool, error)
	EnsureOpenID(ctx context.Context, appID string, sub string) (storage.OpenID, error)
	KeepClient(ctx context.Context, id string) error
	Later(now time.Time) time.Time
}

func ExemptPaths() []string

type MailStore interface {
	AddMail(ctx context.Context, m storage.Mail) (storage.Mail, error)
	CountMails(ctx context.Context, kind string, of string, n int) (int, error)
	DeleteMail(ctx context.Context, m storage.Mail) error
	DueMails(ctx context.Context, by time.Time, n int) ([]storage.Mail, error)
	Mail(ctx context.Context, id string) (storage.Mail, error)
	SaveMail(ctx context.Context, m storage.Mail) (storage.Mail, error)
}

type Mailer interface {
	Send(ctx context.Context, to string, subject string, text string) error
}

func New(ctx context.Context, c Config) (*SignIn, error)

type Revoker interface {
	Revoke(ctx context.Context, rs ...driver.Revocation) error
}

type SignIn struct{ _ []struct{} }

func (*SignIn) Allowed(ctx context.Context, app storage.App, sub string, wanted string) (granted string, ok bool, err error)
func (*SignIn) AllowedOnce(ctx context.Context, app storage.App, sub string, wanted string) (granted string, ok bool, err error)
func (*SignIn) Ask(w http.ResponseWriter, r *http.Request, app storage.App) error
func (*SignIn) AskBy(w http.ResponseWriter, r *http.Request, app storage.App, method string) error
func (*SignIn) AskConsent(w http.ResponseWriter, r *http.Request, app storage.App, who storage.Session, wanted string) error
func (*SignIn) AskFactor(w http.ResponseWriter, r *http.Request, app storage.App, acrValues string) error
func (*SignIn) AskFor(w http.ResponseWriter, r *http.Request, path string) error
func (*SignIn) BeginDevice(r *http.Request, app storage.App, scope string, resource string) (deviceCode string, t storage.Ticket, err error)
func (*SignIn) Close(ctx context.Context) error
func (*SignIn) DevicePage() string
func (*SignIn) Enough(ctx context.Context, v storage.Session, app storage.App, acrValues string) (bool, error)
func (*SignIn) FactorsPage() string
func (*SignIn) Fresh(ctx context.Context, v storage.Session) (bool, error)
func (*SignIn) KeepForm(w http.ResponseWriter, r *http.Request, session string, body []byte, what string, fields [][2]string) error
func (*SignIn) KeptForm(w http.ResponseWriter, r *http.Request) (session string, err error)
func (*SignIn) Level(v storage.Session, acrValues string) string
func (*SignIn) Levels() []string
func (*SignIn) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
})
func (*SignIn) Notify(ctx context.Context, owner string, n event.Notice)
func (*SignIn) Patterns() []string
func (*SignIn) PollDevice(r *http.Request, app storage.App, deviceCode string) (driver.Token, error)
func (*SignIn) Proved(ctx context.Context, v storage.Session) (bool, error)
func (*SignIn) ServeHTTP(w http.ResponseWriter, r *http.Request)
func (*SignIn) SignOut(w http.ResponseWriter, r *http.Request) error
func (*SignIn) Unlock(ctx context.Context, ip netip.Addr) bool
func (*SignIn) UnlockUser(ctx context.Context, u storage.User) bool
func (*SignIn) Visit(r *http.Request) (storage.Session, storage.User, error)
func (*SignIn) Visitor(r *http.Request) (storage.Session, error)
func (*SignIn) WaitUntil(ctx context.Context, u storage.User) (until time.Time, known bool)

const SignUpClosed = "closed"

const SignUpInvitation = "invitation"

const SignUpOpen = "open"

type Store interface {
	App(ctx context.Context, id string) (storage.App, error)
	EndSession(ctx context.Context, v storage.Session, told ...storage.Delivery) error
	HMACKey(ctx context.Context, name string) (storage.Secret, error)
	SID(ctx context.Context, root string, appID string) (string, error)
	SaveSession(ctx context.Context, v storage.Session) (storage.Session, error)
	Session(ctx context.Context, id string) (storage.Session, error)
	Sessions(ctx context.Context, sub string) ([]storage.Session, error)
	users.Store
	users.DataStore
	TicketStore
	AccountStore
	DeviceStore
	MailStore
	users.GroupStore
}

type TicketStore interface {
	EndTicket(ctx context.Context, t storage.Ticket) error
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
	Ticket(ctx context.Context, id string) (storage.Ticket, error)
	TicketsAbout(ctx context.Context, kind string, subject string) ([]storage.Ticket, error)
}

type Tools interface {
	Offer(ctx context.Context, sub string, clientID string, scope string) (access.Offer, error)
}
