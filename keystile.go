package keystile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"

	"go.opentelemetry.io/otel/trace"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/internal/apidoc"
	"github.com/keystile/keystile/internal/clientip"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/router"
	"github.com/keystile/keystile/legacy"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/nodes"
)

// Config says how to make a Service. Fields that are not required have the protocol's defaults.
type Config struct {
	BaseURL   string            // the service's origin, such as https://id.example.com; required
	Backend   driver.Backend    // required unless there is a Store; New does not close it, and begins an empty one
	MasterKey storage.MasterKey // encrypts the secrets of the store; required unless there is a Store
	Store     *storage.Store    // an open store, in place of Backend and MasterKey

	// Counters count rates and failures for all processes of the service together, as package
	// storage/counters/redis does; nil: each process counts alone. A counter in a package's own Config comes
	// first.
	Counters counters.Set

	// Nodes names this process among those of a shared store, for a host that has joined by itself and leaves.
	// nil: New joins, and Close leaves.
	Nodes *nodes.Node

	// Users are the host's own; zero: users and passwords of the Store. Without a Creator nobody is made a user in the
	// console, and of users that are not in the Store it has no pages: the log says so.
	Users users.Host

	// Journal is a folder where charged calls are written before they are answered, so that a
	// killed process loses none; "": it can lose up to a second of calls.
	Journal string

	// FirstRun is a file, such as "first-run.json". While the Store has neither a user nor an application, New makes
	// an administrator and an application, and writes their password and secret there, for the owner of the process
	// alone to read; of several nodes that start at once one does. The file may be deleted then. "": nothing is made.
	// The users have to be those of the Store.
	FirstRun string

	Origins []string // other origins whose pages may use the console and its cookie
	// private networks (CIDR), addresses and host:port that tools and their webhooks may call
	AllowPrivateUpstreams []string
	TrustedProxies        []netip.Prefix // reverse proxies whose X-Forwarded-For is trusted
	Log                   *slog.Logger   // nil: slog.Default()

	// Tracer records spans of the requests and, where there is a Backend, of its steps; nil: none. A host that
	// opens the Store itself wraps its Backend in storage/oteltrace.
	Tracer trace.TracerProvider

	Settings func() []console.Setting // what the process was started with, for the console; nil: it shows none of that

	// The Configs of the packages. New overwrites what it fills in: BaseURL, Store, Tokens, Trail,
	// ClientIP, Log and the references to the other packages.
	Tokens    oauth.TokensConfig
	Trail     gateway.TrailConfig
	SignIn    signin.Config
	OAuth     oauth.Config
	Gateway   gateway.Config
	Registry  registry.Config
	Upstreams mcpbus.UpstreamsConfig
	Bus       mcpbus.Config // DefaultAccess "": see (*storage.Store).DefaultAccess
	Legacy    legacy.Config
}

// Service holds all packages, wired. As an http.Handler it serves all of them behind the
// gateway, which gives each request an id, a rate limit and CORS headers. At "/" it says what is here.
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

	routes      router.Router
	handler     http.Handler
	ways        access.Ways // every way in
	invitations string      // the page that takes them; "" if there is none
	client      func(*http.Request) netip.Addr
	closers     []func(context.Context) error // in the order in which the packages were made
}

// New makes a Service. It reports all errors of the Config at once, as far as they can be known
// before the first package is made. Close ends it.
func New(ctx context.Context, c Config) (*Service, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	s := &Service{Store: c.Store, client: reqctx.Address(clientip.New(c.TrustedProxies).Of)}
	c.count()
	err := s.build(ctx, &c)
	if err == nil {
		err = s.firstRun(ctx, &c)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close(ctx))
	}
	s.handler = s.Gateway.Front(&s.routes)
	s.sayWhatIsServed(ctx, &c)
	return s, nil
}

func missing(field, help string) error { return fmt.Errorf("%s is missing: %s", field, help) }

func (c *Config) complete() error {
	var errs []error
	if c.BaseURL == "" {
		errs = append(errs, missing("BaseURL", "the origin that browsers see, such as https://id.example.com"))
	}
	if c.Store == nil && c.Backend == nil {
		errs = append(errs, missing("Backend", "use storage/bolt, or an adapter of your own"))
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if len(errs) > 0 {
		return fmt.Errorf("keystile: %w", errors.Join(errs...))
	}
	return nil
}

// Ways returns every way in, and whom each makes a user of.
func (s *Service) Ways() access.Ways { return slices.Clone(s.ways) }

// InvitationPage returns the address of the page where people use an invitation, "" where no page takes one.
func (s *Service) InvitationPage() string { return s.invitations }

// ServeHTTP serves all packages, and the handlers that Handle has added.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Handle adds a handler of the host's own, behind the gateway: a pattern is a path, or ends in a
// slash and stands for everything below it. "/" takes the place of the page that says what is here. Call it before
// the Service serves.
func (s *Service) Handle(pattern string, handler http.Handler) { s.routes.Handle(pattern, handler) }

// Routes returns the packages and the handlers that Handle has added, without the gateway, for a
// host that puts middleware of its own between: wrap all of it in Gateway.Front, once.
func (s *Service) Routes() http.Handler { return &s.routes }

// Patterns returns the paths that are served, as http.ServeMux writes them.
func (s *Service) Patterns() []string { return s.routes.Patterns() }

// ClientIP returns the client's address: the peer's, or the one that a trusted proxy names.
func (s *Service) ClientIP(r *http.Request) netip.Addr { return s.client(r) }

// OpenAPI serves one OpenAPI document of several packages at an origin, by GET and HEAD, with an
// ETag. The OpenAPI method of each package returns its part.
func OpenAPI(origin string, parts ...[]byte) http.Handler { return apidoc.Of(parts...).Handler(origin) }

// Ready returns nil while the service can answer: the store works, and where other processes share it,
// what they revoke and change is known here.
func (s *Service) Ready(ctx context.Context) error {
	if err := s.Store.Ready(ctx); err != nil {
		return err
	}
	return s.Tokens.Feed().Err
}

// ForgetApp drops an application from all caches of this process, so that it is read again.
func (s *Service) ForgetApp(clientID string) {
	s.Gateway.Forget(clientID)
	s.Bus.Forget(clientID)
	s.OAuth.Forget(clientID)
}

// ForgetUser drops a user from all caches of this process, so that the user is read again.
func (s *Service) ForgetUser(sub string) {
	s.Bus.Forget(sub)
	s.Console.Forget(sub)
}

// Close ends the packages in the reverse order of their making, so that counts and audit events
// reach the store. Requests must be over; before an http.Server is shut down, Bus.Close ends the
// streams that it would wait for. The caller closes the Backend that it has opened.
func (s *Service) Close(ctx context.Context) error {
	var errs []error
	for _, end := range slices.Backward(s.closers) {
		errs = append(errs, end(ctx))
	}
	s.closers = nil
	return errors.Join(errs...)
}
