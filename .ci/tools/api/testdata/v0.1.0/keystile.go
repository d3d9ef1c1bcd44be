package keystile // import "github.com/keystile/keystile"

import "context"
import "github.com/keystile/keystile/gateway"
import "github.com/keystile/keystile/gateway/console"
import "github.com/keystile/keystile/legacy"
import "github.com/keystile/keystile/mcpbus"
import "github.com/keystile/keystile/oauth"
import "github.com/keystile/keystile/oauth/signin"
import "github.com/keystile/keystile/oauth/signin/users"
import "github.com/keystile/keystile/registry"
import "github.com/keystile/keystile/storage"
import "github.com/keystile/keystile/storage/access"
import "github.com/keystile/keystile/storage/counters"
import "github.com/keystile/keystile/storage/driver"
import "github.com/keystile/keystile/storage/nodes"
import "go.opentelemetry.io/otel/trace"
import "log/slog"
import "net/http"
import "net/netip"

type Config struct {
	BaseURL               string
	Backend               driver.Backend
	MasterKey             storage.MasterKey
	Store                 *storage.Store
	Counters              counters.Set
	Nodes                 *nodes.Node
	Users                 users.Host
	Journal               string
	FirstRun              string
	Origins               []string
	AllowPrivateUpstreams []string
	TrustedProxies        []netip.Prefix
	Log                   *slog.Logger
	Tracer                trace.TracerProvider
	Settings              func() []console.Setting
	Tokens                oauth.TokensConfig
	Trail                 gateway.TrailConfig
	SignIn                signin.Config
	OAuth                 oauth.Config
	Gateway               gateway.Config
	Registry              registry.Config
	Upstreams             mcpbus.UpstreamsConfig
	Bus                   mcpbus.Config
	Legacy                legacy.Config
}

func New(ctx context.Context, c Config) (*Service, error)

func OpenAPI(origin string, parts ...[]byte) http.Handler

type Service struct {
	Store     *storage.Store
	Nodes     *nodes.Node
	Tokens    *oauth.Tokens
	Trail     *gateway.Trail
	SignIn    *signin.SignIn
	Gateway   *gateway.Gateway
	OAuth     *oauth.Server
	Console   *console.Console
	Upstreams *mcpbus.Upstreams
	Bus       *mcpbus.Bus
	Registry  *registry.Registry
	Legacy    *legacy.Legacy
	_         []struct{}
}

func (*Service) ClientIP(r *http.Request) netip.Addr
func (*Service) Close(ctx context.Context) error
func (*Service) ForgetApp(clientID string)
func (*Service) ForgetUser(sub string)
func (*Service) Handle(pattern string, handler http.Handler)
func (*Service) InvitationPage() string
func (*Service) Patterns() []string
func (*Service) Ready(ctx context.Context) error
func (*Service) Routes() http.Handler
func (*Service) ServeHTTP(w http.ResponseWriter, r *http.Request)
func (*Service) Ways() access.Ways
