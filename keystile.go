package keystile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

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
	"github.com/keystile/keystile/registry/lint"
	"github.com/keystile/keystile/registry/pins"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/nodes"
	"github.com/keystile/keystile/storage/oteltrace"
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

	// Users are the host's own; zero: users and passwords of the Store. The console of administrators is there if
	// they have a Creator.
	Users users.Host

	// Journal is a folder where charged calls are written before they are answered, so that a
	// killed process loses none; "": it can lose up to a second of calls.
	Journal string

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
// gateway, which gives each request an id, a rate limit and CORS headers.
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

// count gives the Counters to every package whose Config has none of its own.
func (c *Config) count() {
	if c.Counters == nil {
		return
	}
	c.Gateway.Limiter = cmp.Or(c.Gateway.Limiter, c.Counters.Limiter())
	c.SignIn.Lockout = cmp.Or(c.SignIn.Lockout, c.Counters.Addresses(c.SignIn.Lock))
	c.SignIn.Delays = cmp.Or(c.SignIn.Delays, c.Counters.Accounts())
	c.SignIn.Counter = cmp.Or(c.SignIn.Counter, c.Counters.Counter())
	c.OAuth.Counter = cmp.Or(c.OAuth.Counter, c.Counters.Counter())
	c.Legacy.Counter = cmp.Or(c.Legacy.Counter, c.Counters.Counter())
}

// build makes the packages, each from those before it, and adds them to the router.
func (s *Service) build(ctx context.Context, c *Config) error {
	for _, step := range []func(context.Context, *Config) error{s.foundation, s.signIn, s.gateways, s.provider, s.tools,
		s.legacyEndpoints, s.operators} {
		if err := step(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// part has the methods that all packages have.
type part interface {
	http.Handler
	Mount(mux interface {
		Handle(pattern string, handler http.Handler)
	})
	Close(ctx context.Context) error
}

// add mounts a package on the router and remembers to close it.
func (s *Service) add(p part) {
	p.Mount(&s.routes)
	s.closers = append(s.closers, p.Close)
}

// foundation makes what every package needs: the store, the tokens and the audit trail.
func (s *Service) foundation(ctx context.Context, c *Config) (err error) {
	if s.Store == nil {
		if c.Tracer != nil {
			c.Backend = oteltrace.New(c.Backend)
		}
		if s.Store, err = storage.Open(ctx, c.Backend, c.MasterKey); err != nil {
			return err
		}
	}
	if s.Nodes = c.Nodes; s.Nodes == nil {
		if s.Nodes, err = nodes.Join(ctx, nodes.Config{Store: s.Store, Log: c.Log}); err != nil {
			return err
		}
		s.closers = append(s.closers, s.Nodes.Close)
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
	if c.Users.Users == nil {
		c.Users = users.New(s.Store, c.SignIn.Passwords).Host()
	}
	in := c.SignIn
	in.Unused = c.Tokens.RefreshLifetime
	if in.Tools == nil {
		in.Tools = offers{s}
	}
	in.BaseURL, in.Store, in.Users, in.Revoker, in.Audit, in.Records, in.ClientIP, in.Log = c.BaseURL, s.Store, c.Users,
		s.Tokens, s.Trail, s.Trail, s.client, c.Log
	if s.SignIn, err = signin.New(ctx, in); err != nil {
		return err
	}
	s.ways, s.invitations = in.Ways(), in.InvitationPage()
	s.add(s.SignIn)
	return nil
}

// offers are those of the bus, which is made after the pages that show them.
type offers struct{ s *Service }

func (o offers) Offer(ctx context.Context, sub, clientID, scope string) (access.Offer, error) {
	return o.s.Bus.Offer(ctx, sub, clientID, scope)
}

func (s *Service) gateways(ctx context.Context, c *Config) (err error) {
	g := c.Gateway
	g.Store, g.Tokens, g.Trail, g.Notifier, g.ClientIP, g.Log = s.Store, s.Tokens, s.Trail, s.SignIn, s.client, c.Log
	g.Journal, g.TrustedProxies, g.Tracer = c.Journal, c.TrustedProxies, cmp.Or(c.Tracer, g.Tracer)
	g.HSTS = g.HSTS || strings.HasPrefix(c.BaseURL, "https://")
	g.ExemptPaths = slices.Concat([]string{"/healthz/"}, signin.FreePaths(), console.FreePaths(), g.ExemptPaths)
	if g.ErrorWriters == nil {
		g.ErrorWriters = map[string]func(http.ResponseWriter, *http.Request, int, string){}
	}
	g.ErrorWriters[mcpbus.Path], g.ErrorWriters[mcpbus.Path+"/"] = mcpbus.WriteError, mcpbus.WriteError
	g.CORS.Shared, g.CORS.Origins = append([]string{"/api/console/"}, g.CORS.Shared...),
		append(slices.Clone(c.Origins), g.CORS.Origins...)
	if s.Gateway, err = gateway.New(ctx, g); err != nil {
		return err
	}
	s.add(s.Gateway)
	return nil
}

func (s *Service) provider(ctx context.Context, c *Config) (err error) {
	o := c.OAuth
	o.Tokens, o.SignIn, o.Consent, o.Users, o.Meter, o.Audit, o.ClientIP, o.Log = s.Tokens, s.SignIn, s.SignIn, c.Users,
		s.Gateway, s.Trail, s.client, c.Log
	o.Devices, o.Levels, o.Ways, o.StoredUsers = s.SignIn, s.SignIn, s.SignIn, c.Users.In(s.Store)
	own, bus := o.DefaultScope, mcpbus.Config{BaseURL: c.BaseURL, Scopes: c.Bus.Scopes}
	o.DefaultScope = func(resource string) string {
		if named := bus.DefaultScope(resource); named != "" || own == nil {
			return named
		}
		return own(resource)
	}
	if s.OAuth, err = oauth.New(ctx, o); err != nil {
		return err
	}
	s.add(s.OAuth)
	return nil
}

// tools makes the tool bus, then the registry, which gives it the registered capabilities.
func (s *Service) tools(ctx context.Context, c *Config) (err error) {
	u := c.Upstreams
	u.AllowPrivateUpstreams, u.Log = append(slices.Clone(c.AllowPrivateUpstreams), u.AllowPrivateUpstreams...), c.Log
	if s.Upstreams, err = mcpbus.NewUpstreams(u); err != nil {
		return err
	}
	s.closers = append(s.closers, s.Upstreams.Close)
	if err := s.Store.NoteWays(ctx, s.ways); err != nil {
		return err
	}
	b := c.Bus
	if b.DefaultAccess == "" {
		if b.DefaultAccess, err = s.Store.DefaultAccess(ctx, s.ways); err != nil {
			return err
		}
	}
	b.BaseURL, b.Store, b.Users, b.Invoker, b.Discoverer = c.BaseURL, s.Store, c.Users, s.Upstreams, s.Upstreams
	b.Meter, b.Verifier, b.Audit, b.ClientIP, b.Log = s.Gateway, s.Tokens, s.Trail, s.client, c.Log
	accepted, err := pins.New(pins.Config{Store: s.Store, Notifier: s.SignIn, Audit: s.Trail, Log: c.Log})
	if err != nil {
		return err
	}
	b.Pins = accepted
	if s.Bus, err = mcpbus.New(ctx, b); err != nil {
		return err
	}
	s.add(s.Bus)
	r := c.Registry
	r.BaseURL, r.Store, r.Visitors, r.Users, r.Discoverer, r.Bus = c.BaseURL, s.Store, s.SignIn, c.Users, s.Upstreams,
		s.Bus
	r.Visit = s.SignIn.Visit
	r.Pins = accepted
	if r.Lint == nil {
		r.Lint = lint.Check
	}
	r.AllowPrivateUpstreams, r.Origins, r.Audit, r.ClientIP, r.Log = u.AllowPrivateUpstreams, c.Origins, s.Trail, s.client,
		c.Log
	if s.Registry, err = registry.New(ctx, r); err != nil {
		return err
	}
	s.add(s.Registry)
	s.warnOfOpenTools(ctx, c.Log)
	return nil
}

func (s *Service) legacyEndpoints(ctx context.Context, c *Config) (err error) {
	l := c.Legacy
	l.BaseURL, l.Store, l.Users, l.SignIns, l.Codes, l.Verifier, l.Visitors = c.BaseURL, s.Store, c.Users, s.OAuth,
		s.OAuth, s.Tokens, s.SignIn
	l.Audit, l.ClientIP, l.Log = s.Trail, s.client, c.Log
	if len(l.Types) == 0 {
		l.Types = s.ways.Methods()
	}
	if s.Legacy, err = legacy.New(ctx, l); err != nil {
		return err
	}
	s.add(s.Legacy)
	return nil
}

// operators makes the console, which shows what the other packages do.
func (s *Service) operators(ctx context.Context, c *Config) (err error) {
	if c.Users.Creator == nil { // a host whose users are administered elsewhere
		return nil
	}
	o := console.Config{
		BaseURL: c.BaseURL, Store: s.Store, Visitors: s.SignIn, Users: c.Users.Creator, Revoker: s.Tokens, Trail: s.Trail,
		Billing: s.Gateway.Billing(),
		SignIn:  s.SignIn, Forms: s.SignIn, FactorsPage: s.SignIn.FactorsPage(), Lockout: s.SignIn, Delays: s.SignIn,
		Registry: s.Registry, Bus: s.Bus,
		Ways: s.ways, InvitationPage: s.invitations, Nodes: s.Nodes, Forget: s.Forget, Notifier: s.SignIn, Origins: c.Origins,
		ClientIP: s.client, Log: c.Log,
		Archive: s.Trail, Usage: s.Gateway.Usage(), Keys: s.Tokens, Vitals: s.vitals, Settings: c.Settings, Stored: s.stored,
		Counters: c.counting(),
	}
	if c.Users.Passwords != nil {
		o.Passwords = c.Users.Passwords
	}
	if c.Users.In(s.Store) {
		o.Visit = s.SignIn.Visit
	}
	if s.Console, err = console.New(ctx, o); err != nil {
		return err
	}
	s.add(s.Console)
	return nil
}

// Ways returns every way in, and whom each makes a user of.
func (s *Service) Ways() access.Ways { return slices.Clone(s.ways) }

// InvitationPage returns the address of the page where people use an invitation, "" where no page takes one.
func (s *Service) InvitationPage() string { return s.invitations }

// warnOfOpenTools names the tools that strangers may use because nobody has said otherwise.
func (s *Service) warnOfOpenTools(ctx context.Context, log *slog.Logger) {
	const named = 20
	open := s.ways.Open()
	tools, n := s.Bus.Unlisted(named)
	if n == 0 {
		return
	}
	if maybe, err := s.Store.MayHaveStrangers(ctx); len(open) == 0 && err == nil && maybe {
		log.WarnContext(ctx, "everybody may use the tools of capabilities without an access list, and users may have come "+
			"by themselves earlier: give each a list, or set "+storage.SettingDefaultAccess+" to owner",
			"tools", tools, "count", n)
	}
	if len(open) > 0 {
		log.WarnContext(ctx, "everybody may use the tools of capabilities without an access list, and strangers become "+
			"users by themselves: give each a list, or set "+storage.SettingDefaultAccess+" to owner",
			"by", open, "tools", tools, "count", n)
	}
}

// stored describes to operators what the records are in.
func (s *Service) stored() (is console.Server) {
	is.Kind, is.Version, is.At, is.Bytes = s.Store.Describe()
	return is
}

// counting returns what describes to operators what counts for all processes; nil: nobody knows.
func (c *Config) counting() func() console.Server {
	if c.Counters == nil {
		if c.Gateway.Limiter != nil || c.SignIn.Lockout != nil || c.SignIn.Delays != nil || c.SignIn.Counter != nil {
			return nil // the host's own, which may count elsewhere
		}
		return func() console.Server { return console.Server{} }
	}
	return func() (is console.Server) {
		is.Kind, is.Version, is.At = c.Counters.Describe()
		reached, since := c.Counters.Reached()
		is.Away, is.Since = !reached, since
		return is
	}
}

// vitals returns what the console says the service is well by.
func (s *Service) vitals(ctx context.Context) []console.Vital {
	feed, stats, health := s.Tokens.Feed(), s.Gateway.Stats(), s.Gateway.Health()
	const notWritten = "usage or audit trail is not written as it should be: see the log of this node"
	lost := stats.AuditLost + stats.AuditLostAnonymous
	all := []console.Vital{
		{Name: "feed lag", Value: feed.Age.Round(time.Millisecond).String(), Well: feed.Err == nil,
			Says: "what other processes revoke has not been read for too long: no access token is accepted"},
		{Name: "audit events waiting", Value: fmt.Sprint(stats.AuditWaiting), Well: health == nil, Says: notWritten},
		{Name: "audit events lost", Value: fmt.Sprint(lost), Well: stats.AuditLost == 0,
			Says: "events were lost: see why the store does not keep up"},
		{Name: "calls charged", Value: fmt.Sprint(stats.Charged), Well: health == nil, Says: notWritten},
		{Name: "calls not counted", Value: fmt.Sprint(stats.Uncounted), Well: health == nil, Says: notWritten},
	}
	if !feed.Shared {
		all = all[1:]
	}
	if len(stats.Shadowed) > 0 {
		var let []string
		for _, limit := range slices.Sorted(maps.Keys(stats.Shadowed)) {
			let = append(let, fmt.Sprintf("%s: %d", limit, stats.Shadowed[limit]))
		}
		all = append(all, console.Vital{Name: "requests let through over a rate", Value: strings.Join(let, ", "), Well: true})
	}
	const most = 100
	due := func(name string, n int, err error) {
		all = append(all, console.Vital{Name: name, Value: fmt.Sprint(n), Well: err == nil && n < most,
			Says: "they are not sent as fast as they come in: see the log of this node"})
	}
	now := time.Now()
	mails, err := s.Store.DueMails(ctx, now, most)
	due("emails due", len(mails), err)
	webhooks, err := s.Store.DueDeliveries(ctx, now, most)
	if err == nil {
		told, failed := s.Store.DueTold(ctx, now, most) // logouts and user events go the same way
		webhooks, err = append(webhooks, told...), failed
	}
	due("webhooks due", len(webhooks), err)
	return all
}

// ServeHTTP serves all packages, and the handlers that Handle has added.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Handle adds a handler of the host's own, behind the gateway: a pattern is a path, or ends in a
// slash and stands for everything below it. Call it before the Service serves.
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

// Forget drops an application, or a user, from all caches, so that it is read again.
func (s *Service) Forget(id string) {
	s.Gateway.Forget(id)
	s.Bus.Forget(id)
	s.Console.Forget(id)
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
