package keystile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"strings"

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
	"github.com/keystile/keystile/storage/driver"
)

// Config is what New needs. What is not required has the protocol's defaults.
type Config struct {
	BaseURL   string            // the service's origin, such as https://id.example.com; required
	Backend   driver.Backend    // required unless there is a Store; New does not close it
	MasterKey storage.MasterKey // seals what must be read back; required unless there is a Store
	Store     *storage.Store    // one that is open already, in place of Backend and MasterKey

	Users users.Users // nil: users and passwords of the Store. A host's own implement oauth.Users too

	// Journal is a folder where charged calls are written down before they are answered, so that
	// a killed process loses none; "": up to a second of calls.
	Journal string

	Origins               []string       // other origins whose pages may use the console and its cookie
	AllowPrivateUpstreams []string       // private networks (CIDR), addresses and host:port that tools may call
	TrustedProxies        []netip.Prefix // reverse proxies that are believed the client's address
	Log                   *slog.Logger   // nil: slog.Default()

	// What a host may change in a room. What New fills in is overwritten: BaseURL, Store, Tokens,
	// Trail, ClientIP, Log and the other rooms.
	Tokens    oauth.TokensConfig
	Trail     gateway.TrailConfig
	SignIn    signin.Config
	OAuth     oauth.Config
	Gateway   gateway.Config
	Registry  registry.Config
	Upstreams mcpbus.UpstreamsConfig
	Bus       mcpbus.Config
	Legacy    legacy.Config
}

// Service is every room, wired. As an http.Handler it answers for all of them, behind the
// gateway: each request has an id, a rate and its CORS headers.
type Service struct {
	Store     *storage.Store
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

	routes  router.Router
	handler http.Handler
	client  func(*http.Request) netip.Addr
	closers []func(context.Context) error // in the order in which the rooms were made
}

// New makes a Service. It says everything that is wrong with the Config at once, as far as that
// can be known before a room is made. Close ends it.
func New(ctx context.Context, c Config) (*Service, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	s := &Service{Store: c.Store, client: reqctx.Address(clientip.New(c.TrustedProxies).Of)}
	if err := s.build(ctx, &c); err != nil {
		return nil, errors.Join(err, s.Close(ctx))
	}
	s.handler = s.Gateway.Front(&s.routes)
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

// build makes the rooms, each from those before it, and hangs them into the router.
func (s *Service) build(ctx context.Context, c *Config) error {
	for _, step := range []func(context.Context, *Config) error{s.foundation, s.signIn, s.gateways, s.provider, s.tools, s.legacyEndpoints} {
		if err := step(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// part is what all rooms have alike.
type part interface {
	http.Handler
	Mount(mux interface {
		Handle(pattern string, handler http.Handler)
	})
	Close(ctx context.Context) error
}

// add hangs a room into the router and remembers to close it.
func (s *Service) add(p part) {
	p.Mount(&s.routes)
	s.closers = append(s.closers, p.Close)
}

// foundation makes what every room takes: the store, the tokens and the audit trail.
func (s *Service) foundation(ctx context.Context, c *Config) (err error) {
	if s.Store == nil {
		if s.Store, err = storage.Open(ctx, c.Backend, c.MasterKey); err != nil {
			return err
		}
	}
	tokens := c.Tokens
	tokens.BaseURL, tokens.Store, tokens.Log = c.BaseURL, s.Store, c.Log
	tokens.Resources = append(mcpbus.Resources(c.BaseURL), tokens.Resources...)
	if s.Tokens, err = oauth.OpenTokens(ctx, tokens); err != nil {
		return err
	}
	s.closers = append(s.closers, s.Tokens.Close)
	trail := c.Trail
	trail.Store, trail.Log = s.Store, c.Log
	if s.Trail, err = gateway.OpenTrail(ctx, trail); err != nil {
		return err
	}
	s.closers = append(s.closers, s.Trail.Close)
	return nil
}

func (s *Service) signIn(ctx context.Context, c *Config) (err error) {
	if c.Users == nil {
		c.Users = users.New(s.Store, c.SignIn.Passwords)
	}
	in := c.SignIn
	in.BaseURL, in.Store, in.Users, in.Revoker, in.Audit, in.ClientIP, in.Log = c.BaseURL, s.Store, c.Users, s.Tokens, s.Trail, s.client, c.Log
	if s.SignIn, err = signin.New(ctx, in); err != nil {
		return err
	}
	s.add(s.SignIn)
	return nil
}

func (s *Service) gateways(ctx context.Context, c *Config) (err error) {
	g := c.Gateway
	g.Store, g.Tokens, g.Trail, g.Notifier, g.ClientIP, g.Log = s.Store, s.Tokens, s.Trail, s.SignIn, s.client, c.Log
	g.Journal, g.TrustedProxies = c.Journal, c.TrustedProxies
	g.HSTS = g.HSTS || strings.HasPrefix(c.BaseURL, "https://")
	g.ExemptPaths = append(append([]string{"/healthz/"}, signin.FreePaths()...), g.ExemptPaths...)
	if g.ErrorWriters == nil {
		g.ErrorWriters = map[string]func(http.ResponseWriter, *http.Request, int, string){}
	}
	g.ErrorWriters[mcpbus.Path], g.ErrorWriters[mcpbus.Path+"/"] = mcpbus.WriteError, mcpbus.WriteError
	g.CORS.Shared, g.CORS.Origins = append([]string{"/api/console/"}, g.CORS.Shared...), append(slices.Clone(c.Origins), g.CORS.Origins...)
	if s.Gateway, err = gateway.New(ctx, g); err != nil {
		return err
	}
	s.add(s.Gateway)
	users, ok := c.Users.(console.Users)
	if !ok { // a host whose users are administered elsewhere
		return nil
	}
	s.Console, err = console.New(ctx, console.Config{
		BaseURL: c.BaseURL, Store: s.Store, Visitors: s.SignIn, Users: users, Revoker: s.Tokens, Trail: s.Trail, Billing: s.Gateway.Billing(),
		Forget: s.Gateway.Forget, Notifier: s.SignIn, Origins: c.Origins, ClientIP: s.client, Log: c.Log,
	})
	if err != nil {
		return err
	}
	s.add(s.Console)
	return nil
}

func (s *Service) provider(ctx context.Context, c *Config) (err error) {
	o := c.OAuth
	o.Tokens, o.SignIn, o.Consent, o.Users, o.Meter, o.Audit, o.ClientIP, o.Log = s.Tokens, s.SignIn, s.SignIn, c.Users, s.Gateway, s.Trail, s.client, c.Log
	if s.OAuth, err = oauth.New(ctx, o); err != nil {
		return err
	}
	s.add(s.OAuth)
	return nil
}

// tools makes the tool bus, then the registrar, which tells it what was registered.
func (s *Service) tools(ctx context.Context, c *Config) (err error) {
	u := c.Upstreams
	u.AllowPrivateUpstreams, u.Log = append(slices.Clone(c.AllowPrivateUpstreams), u.AllowPrivateUpstreams...), c.Log
	if s.Upstreams, err = mcpbus.NewUpstreams(u); err != nil {
		return err
	}
	s.closers = append(s.closers, s.Upstreams.Close)
	b := c.Bus
	b.BaseURL, b.Store, b.Users, b.Invoker, b.Discoverer = c.BaseURL, s.Store, c.Users, s.Upstreams, s.Upstreams
	b.Meter, b.Verifier, b.Audit, b.ClientIP, b.Log = s.Gateway, s.Tokens, s.Trail, s.client, c.Log
	if s.Bus, err = mcpbus.New(ctx, b); err != nil {
		return err
	}
	s.add(s.Bus)
	r := c.Registry
	r.BaseURL, r.Store, r.Visitors, r.Users, r.Discoverer, r.Bus = c.BaseURL, s.Store, s.SignIn, c.Users, s.Upstreams, s.Bus
	r.AllowPrivateUpstreams, r.Origins, r.Audit, r.ClientIP, r.Log = u.AllowPrivateUpstreams, c.Origins, s.Trail, s.client, c.Log
	if s.Registry, err = registry.New(ctx, r); err != nil {
		return err
	}
	s.add(s.Registry)
	return nil
}

func (s *Service) legacyEndpoints(ctx context.Context, c *Config) (err error) {
	l := c.Legacy
	l.BaseURL, l.Store, l.Users, l.SignIns, l.Codes, l.Verifier, l.Visitors = c.BaseURL, s.Store, c.Users, s.OAuth, s.OAuth, s.Tokens, s.SignIn
	l.Audit, l.ClientIP, l.Log = s.Trail, s.client, c.Log
	if s.Legacy, err = legacy.New(ctx, l); err != nil {
		return err
	}
	s.add(s.Legacy)
	return nil
}

// ServeHTTP answers for every room, and for what was hung into it by Handle.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Handle hangs a handler of the host's own beside the rooms, behind the gateway's front: a pattern
// is a path, or ends in a slash and stands for all below it. It is for before the Service serves.
func (s *Service) Handle(pattern string, handler http.Handler) { s.routes.Handle(pattern, handler) }

// Routes returns the rooms and what Handle has hung beside them without the gateway's front, for
// a host that puts handlers of its own between: Gateway.Front goes around all of it, once.
func (s *Service) Routes() http.Handler { return &s.routes }

// Patterns returns the paths that are served, as http.ServeMux writes them.
func (s *Service) Patterns() []string { return s.routes.Patterns() }

// ClientIP returns whom a request comes from: the peer, or whom a trusted proxy says.
func (s *Service) ClientIP(r *http.Request) netip.Addr { return s.client(r) }

// OpenAPI serves one OpenAPI document of rooms at an origin, by GET and HEAD, with an ETag. Each
// room's own OpenAPI method returns its part.
func OpenAPI(origin string, rooms ...[]byte) http.Handler { return apidoc.Of(rooms...).Handler(origin) }

// Forget makes the rooms read an application, or a user, anew.
func (s *Service) Forget(id string) {
	s.Gateway.Forget(id)
	s.Bus.Forget(id)
}

// Close ends the rooms in the order opposite to how they were made, so that what is counted and
// noted reaches the store. Requests must be over; before an http.Server is shut down, Bus.Close
// ends the streams that it would wait for. The Backend is closed by whoever opened it.
func (s *Service) Close(ctx context.Context) error {
	var errs []error
	for _, end := range slices.Backward(s.closers) {
		errs = append(errs, end(ctx))
	}
	s.closers = nil
	return errors.Join(errs...)
}
