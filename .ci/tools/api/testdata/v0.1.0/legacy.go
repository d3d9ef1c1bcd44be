package legacy // import "github.com/keystile/keystile/legacy"

import "context"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/counters"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/event"
import "log/slog"
import "net/http"
import "net/netip"
import "time"

const AlwaysOK = "always_ok"

type Audit interface{ Note(e event.Event) }

type Config struct {
	BaseURL     string
	Store       Store
	Users       Users
	Provider    Provider
	Verifier    Verifier
	Visitors    Visitors
	Types       []string
	ErrorStatus string
	Counter     counters.Counter
	Audit       Audit
	ClientIP    func(*http.Request) netip.Addr
	Log         *slog.Logger
}

type Legacy struct{ _ []struct{} }

func (*Legacy) Close(context.Context) error
func (*Legacy) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
})
func (*Legacy) OpenAPI() []byte
func (*Legacy) Patterns() []string
func (*Legacy) ServeHTTP(w http.ResponseWriter, r *http.Request)

const Mapped = "mapped"

func New(_ context.Context, c Config) (*Legacy, error)

type Provider interface {
	Access(ctx context.Context, code driver.Token) (string, error)
	Begun(app storage.App, ticket string) bool
	Code(ctx context.Context, app storage.App, who storage.Session, redirectURI string, from netip.Addr) (string, error)
	SignIn(app storage.App, loginType string, redirectURI string, state string) string
}

type Store interface {
	Admits(ctx context.Context, a storage.App, u storage.User) (bool, error)
	App(ctx context.Context, id string) (storage.App, error)
	Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error
	FindOpenID(ctx context.Context, appID string, openid string) (storage.OpenID, error)
	OpenID(ctx context.Context, appID string, sub string) (storage.OpenID, error)
	Token(ctx context.Context, key driver.Key) (driver.Token, error)
	Users
}

type Users interface {
	User(ctx context.Context, sub string) (storage.User, error)
}

type Verifier interface {
	Verify(ctx context.Context, bearer string, audiences ...string) (storage.Caller, error)
}

type Visitors interface {
	Visitor(r *http.Request) (storage.Session, error)
}
