package oauth // import "github.com/keystile/keystile/oauth"

import "context"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/access"
import "github.com/keystile/keystile/storage/apikey"
import "github.com/keystile/keystile/storage/claim"
import "github.com/keystile/keystile/storage/client"
import "github.com/keystile/keystile/storage/counters"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/event"
import "github.com/keystile/keystile/storage/lasthop"
import "github.com/keystile/keystile/storage/trust"
import "log/slog"
import "net/http"
import "net/netip"
import "time"

type AssertionsConfig struct {
	Issuers    []trust.Issuer
	Connectors map[string]string
	Users      interface {
		Asserted(ctx context.Context, connector string, subject string, email string, create bool) (storage.User, error)
	}
	AllowPrivate          []string
	TokenEndpointAudience bool
}

type Audit interface {
	Note(e event.Event)
	NoteNow(ctx context.Context, e event.Event) error
}

type ClaimsRequest struct {
	User     storage.User
	ClientID string
	Scopes   []string
	In       string
}

func ClientHosts() []string

type ClientsConfig struct {
	Documents    string
	Hosts        []string
	Registration string
	AllowPrivate []string
	Transport    http.RoundTripper
}

const ClientsListed = "listed"

const ClientsOff = "off"

const ClientsOpen = "open"

type Config struct {
	Tokens  *Tokens
	SignIn  SignIn
	Users   Users
	Consent Consent
	Devices interface {
		BeginDevice(r *http.Request, app storage.App, scope string, resource string) (deviceCode string, t storage.Ticket, err error)
		DevicePage() string
		PollDevice(r *http.Request, app storage.App, deviceCode string) (driver.Token, error)
	}
	Levels interface {
		AskFactor(w http.ResponseWriter, r *http.Request, app storage.App, acrValues string) error
		Enough(ctx context.Context, v storage.Session, app storage.App, acrValues string) (bool, error)
		Level(v storage.Session, acrValues string) string
		Levels() []string
	}
	AskBy               func(w http.ResponseWriter, r *http.Request, app storage.App, method string) error
	IDTokenLifetime     time.Duration
	CodeReuseLeeway     time.Duration
	RefreshReuseLeeway  time.Duration
	AgentsRefreshWindow time.Duration
	DefaultScope        func(resource string) string
	LoginTypes          string
	ClaimRules          []claim.Rule
	Claims              func(ctx context.Context, r ClaimsRequest) (map[string]any, error)
	IDTokenAlgs         []string
	Meter               Meter
	Clients             ClientsConfig
	Assertions          AssertionsConfig
	Counter             counters.Counter
	AllowPrivate        []string
	AllowPrivateEvents  []string
	NoDelivery          bool
	Audit               Audit
	ClientIP            func(*http.Request) netip.Addr
	Log                 *slog.Logger
}

type Consent interface {
	Allowed(ctx context.Context, app storage.App, sub string, scope string) (granted string, ok bool, err error)
	AllowedOnce(ctx context.Context, app storage.App, sub string, scope string) (granted string, ok bool, err error)
	AskConsent(w http.ResponseWriter, r *http.Request, app storage.App, who storage.Session, scope string) error
}

var ErrInvalidToken error

type Feed struct {
	Shared      bool
	Age         time.Duration
	Regressions uint64
	Err         error
}

type Legacy struct{ visitors }

func (*Legacy) Access(_ context.Context, code driver.Token) (string, error)
func (*Legacy) Begun(app storage.App, ticket string) bool
func (*Legacy) Code(ctx context.Context, app storage.App, who storage.Session, redirectURI string, from netip.Addr) (string, error)
func (*Legacy) SignIn(app storage.App, loginType string, redirectURI string, state string) string

type Meter interface {
	Meter(product string, handler http.Handler) http.Handler
}

func New(_ context.Context, c Config) (*Server, error)

func OpenTokens(ctx context.Context, c TokensConfig) (*Tokens, error)

type Server struct {
	*core
	_ []struct{}
}

func (*Server) Close(ctx context.Context) error
func (*Server) Forget(clientID string)
func (*Server) Legacy() *Legacy
func (*Server) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
})
func (*Server) OpenAPI() []byte
func (*Server) Patterns() []string
func (*Server) ServeHTTP(w http.ResponseWriter, r *http.Request)

type SignIn interface {
	Ask(w http.ResponseWriter, r *http.Request, app storage.App) error
	Proved(ctx context.Context, v storage.Session) (bool, error)
	SignOut(w http.ResponseWriter, r *http.Request) error
	Visitor(r *http.Request) (storage.Session, error)
}

type Store interface {
	Setting(ctx context.Context, name string) (string, error)
	appStore
	userStore
	tokenStore
	keyStore
	deliveryStore
	sharedStore
}

type Tokens struct{ _ []struct{} }

func (*Tokens) Close(context.Context) error
func (*Tokens) Feed() Feed
func (*Tokens) ReloadKeys(ctx context.Context) error
func (*Tokens) Resources() []string
func (*Tokens) RetireKey(ctx context.Context, kid string) error
func (*Tokens) Revoke(ctx context.Context, rs ...driver.Revocation) error
func (*Tokens) RotateKey(ctx context.Context, alg string) (storage.SigningKey, error)
func (*Tokens) SignCaller(ctx context.Context, caller storage.Caller, c lasthop.Call) (string, error)
func (*Tokens) SigningAlg() string
func (*Tokens) SigningKeys(ctx context.Context) ([]storage.SigningKey, error)
func (*Tokens) Verify(ctx context.Context, bearer string, audiences ...string) (storage.Caller, error)
func (*Tokens) VerifyRequest(w http.ResponseWriter, r *http.Request, audiences ...string) (storage.Caller, error)

type TokensConfig struct {
	BaseURL         string
	Store           Store
	CodeLifetime    time.Duration
	AccessLifetime  time.Duration
	RefreshLifetime time.Duration
	SigningAlg      string
	SweepEvery      time.Duration
	StaleAfter      time.Duration
	Log             *slog.Logger
	Resources       []string
}

type Users interface {
	User(ctx context.Context, sub string) (storage.User, error)
}

type appStore interface {
	Admits(ctx context.Context, a storage.App, u storage.User) (bool, error)
	App(ctx context.Context, id string) (storage.App, error)
	ClientHost(ctx context.Context, host string) (client.Host, error)
	Issuer(ctx context.Context, issuer string) (trust.Issuer, error)
	RemoveClient(ctx context.Context, a storage.App) error
	SaveApp(ctx context.Context, a storage.App) (storage.App, error)
}

type core struct{ _ []struct{} }

type deliveryStore interface {
	DeleteDelivery(ctx context.Context, d storage.Delivery) error
	DueTold(ctx context.Context, at time.Time, n int) ([]storage.Delivery, error)
	FirstDelivery(ctx context.Context, member string) (storage.Delivery, error)
	QueueDeliveries(ctx context.Context, all ...storage.Delivery) error
	Queued() <-chan struct{}
	SaveDelivery(ctx context.Context, d storage.Delivery) (storage.Delivery, error)
	UserWebhook(ctx context.Context) (url string, secret storage.Secret, err error)
}

type keyStore interface {
	APIKey(ctx context.Context, id string) (apikey.Key, error)
	FirstKeys(ctx context.Context, alg string, keys ...storage.SigningKey) error
	RemoveAPIKey(ctx context.Context, id string) error
	SaveKeys(ctx context.Context, keys ...storage.SigningKey) error
	SigningKeys(ctx context.Context) ([]storage.SigningKey, error)
	UseAPIKey(ctx context.Context, k apikey.Key, at time.Time) (apikey.Key, error)
}

type sharedStore interface {
	Listen(ctx context.Context, hint func()) error
	OnChange(f func(storage.Change)) (stop func())
	ReadChanges(ctx context.Context) error
	Shared() bool
	SweepEvery(ctx context.Context, every time.Duration, failed func(error))
}

type tokenStore interface {
	Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error
	HMACKey(ctx context.Context, name string) (storage.Secret, error)
	Issue(ctx context.Context, tokens ...driver.Token) error
	Later(now time.Time) time.Time
	MayGrant() error
	Reached(now time.Time) time.Time
	RestoreRevocations(ctx context.Context, rs ...driver.Revocation) error
	Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error)
	RevokeDated(ctx context.Context, rs ...driver.Revocation) ([]driver.Revocation, error)
	Token(ctx context.Context, key driver.Key) (driver.Token, error)
}

type userStore interface {
	EnsureOpenID(ctx context.Context, appID string, sub string) (storage.OpenID, error)
	GroupsOf(ctx context.Context, sub string) ([]access.Group, error)
	JoinSession(ctx context.Context, v storage.Session, appID string) (sid string, err error)
	OpenID(ctx context.Context, appID string, sub string) (storage.OpenID, error)
	OpenIDs(ctx context.Context, sub string) ([]storage.OpenID, error)
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
	User(ctx context.Context, sub string) (storage.User, error)
}

type visitors struct{ *core }
