package oauth // import "github.com/keystile/keystile/oauth"

import "context"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/apikey"
import "github.com/keystile/keystile/storage/client"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/event"
import "log/slog"
import "net/http"
import "net/netip"
import "time"

type Audit interface {
	Note(e event.Event)
	NoteNow(ctx context.Context, e event.Event) error
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
	IDTokenLifetime    time.Duration
	CodeReuseLeeway    time.Duration
	RefreshReuseLeeway time.Duration
	LoginTypes         string
	IDTokenAlgs        []string
	Meter              Meter
	Clients            ClientsConfig
	Counter            Counter
	AllowPrivate       []string
	NoDelivery         bool
	Audit              Audit
	ClientIP           func(*http.Request) netip.Addr
	Log                *slog.Logger
}

type Consent interface {
	Allowed(ctx context.Context, app storage.App, sub string, scope string) (granted string, ok bool, err error)
	AllowedOnce(ctx context.Context, app storage.App, sub string, scope string) (granted string, ok bool, err error)
	AskConsent(w http.ResponseWriter, r *http.Request, app storage.App, who storage.Session, scope string) error
}

type Counter interface {
	Add(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) (wait time.Duration)
	Wait(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) (wait time.Duration)
}

var ErrInvalidToken error

type Feed struct {
	Shared      bool
	Age         time.Duration
	Regressions uint64
	Err         error
}

type Meter interface {
	Meter(product string, handler http.Handler) http.Handler
}

func New(_ context.Context, c Config) (s *Server, err error)

func OpenTokens(ctx context.Context, c TokensConfig) (*Tokens, error)

type Server struct{ _ []struct{} }

func (*Server) Close(ctx context.Context) error
func (*Server) LegacyAccess(_ context.Context, code driver.Token) (string, error)
func (*Server) LegacyBegun(app storage.App, ticket string) bool
func (*Server) LegacyCode(ctx context.Context, app storage.App, who storage.Session, redirectURI string, from netip.Addr) (string, error)
func (*Server) LegacySignIn(app storage.App, loginType string, redirectURI string, state string) string
func (*Server) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
})
func (*Server) OpenAPI() []byte
func (*Server) Patterns() []string
func (*Server) ServeHTTP(w http.ResponseWriter, r *http.Request)

type SignIn interface {
	Ask(w http.ResponseWriter, r *http.Request, app storage.App) error
	SignOut(w http.ResponseWriter, r *http.Request) error
	Visitor(r *http.Request) (storage.Session, error)
}

type Store interface {
	APIKey(ctx context.Context, id string) (apikey.Key, error)
	App(ctx context.Context, id string) (storage.App, error)
	ClientHost(ctx context.Context, host string) (client.Host, error)
	Dated(rs ...driver.Revocation) []driver.Revocation
	DeleteDelivery(ctx context.Context, d storage.Delivery) error
	DueTold(ctx context.Context, at time.Time, n int) ([]storage.Delivery, error)
	EnsureOpenID(ctx context.Context, appID string, sub string) (storage.OpenID, error)
	Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error
	FirstDelivery(ctx context.Context, member string) (storage.Delivery, error)
	FirstKeys(ctx context.Context, alg string, keys ...storage.SigningKey) error
	Issue(ctx context.Context, tokens ...driver.Token) error
	JoinSession(ctx context.Context, v storage.Session, appID string) (sid string, err error)
	Later(now time.Time) time.Time
	Listen(ctx context.Context, hint func()) error
	OnChange(f func(storage.Change)) (stop func())
	Queued() <-chan struct{}
	Reached(now time.Time) time.Time
	ReadChanges(ctx context.Context) error
	RemoveAPIKey(ctx context.Context, id string) error
	RemoveClient(ctx context.Context, a storage.App) error
	Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error)
	Revoke(ctx context.Context, rs ...driver.Revocation) error
	SaveApp(ctx context.Context, a storage.App) (storage.App, error)
	SaveDelivery(ctx context.Context, d storage.Delivery) (storage.Delivery, error)
	SaveKeys(ctx context.Context, keys ...storage.SigningKey) error
	SaveTicket(ctx context.Context, t storage.Ticket) (storage.Ticket, error)
	Setting(ctx context.Context, name string) (string, error)
	Shared() bool
	SigningKeys(ctx context.Context) ([]storage.SigningKey, error)
	SweepEvery(ctx context.Context, every time.Duration, failed func(error))
	Token(ctx context.Context, key driver.Key) (driver.Token, error)
	UseAPIKey(ctx context.Context, k apikey.Key, at time.Time) (apikey.Key, error)
	User(ctx context.Context, sub string) (storage.User, error)
	UserWebhook(ctx context.Context) (url string, secret storage.Secret, err error)
}

type Tokens struct{ _ []struct{} }

func (*Tokens) Close(context.Context) error
func (*Tokens) Feed() Feed
func (*Tokens) ReloadKeys(ctx context.Context) error
func (*Tokens) Resources() []string
func (*Tokens) RetireKey(ctx context.Context, kid string) error
func (*Tokens) Revoke(ctx context.Context, rs ...driver.Revocation) error
func (*Tokens) RotateKey(ctx context.Context, alg string) (storage.SigningKey, error)
func (*Tokens) SigningAlg() string
func (*Tokens) SigningKeys(ctx context.Context) ([]storage.SigningKey, error)
func (*Tokens) Verify(ctx context.Context, bearer string, audiences ...string) (storage.Caller, error)

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
