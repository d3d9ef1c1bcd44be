package keystile

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/gateway/console"
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
	"github.com/keystile/keystile/storage/nodes"
	"github.com/keystile/keystile/storage/oteltrace"
)

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
	in.RefreshLifetime, in.Console = c.Tokens.RefreshLifetime, "/console/"
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

// withUsers is the Store, but for the users, who may be the host's own.
type withUsers struct {
	*storage.Store
	users users.Users
}

func (w withUsers) User(ctx context.Context, sub string) (storage.User, error) {
	return w.users.User(ctx, sub)
}

func (s *Service) gateways(ctx context.Context, c *Config) (err error) {
	g := c.Gateway
	g.Store = withUsers{s.Store, c.Users.Users}
	g.Tokens, g.Signer, g.Trail, g.Notifier, g.ClientIP, g.Log = s.Tokens, s.Tokens, s.Trail, s.SignIn, s.client,
		c.Log
	g.Journal, g.TrustedProxies, g.Tracer = c.Journal, c.TrustedProxies, cmp.Or(c.Tracer, g.Tracer)
	g.HSTS = g.HSTS || strings.HasPrefix(c.BaseURL, "https://")
	g.ExemptPaths = slices.Concat(signin.ExemptPaths(), console.ExemptPaths(), g.ExemptPaths)
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
	o.Tokens, o.Meter, o.Audit, o.ClientIP, o.Log = s.Tokens, s.Gateway, s.Trail, s.client, c.Log
	o.SignIn, o.Consent, o.Devices, o.Levels, o.AskBy = s.SignIn, s.SignIn, s.SignIn, s.SignIn, s.SignIn.AskBy
	if o.Users = nil; !c.Users.In(s.Store) {
		o.Users = c.Users
	}
	if o.Assertions.Users == nil {
		o.Assertions.Users = c.Users
	}
	o.Assertions.AllowPrivate = append(slices.Clone(c.AllowPrivateUpstreams), o.Assertions.AllowPrivate...)
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
	b.Meter, b.Verifier, b.Signer, b.Audit, b.ClientIP, b.Log = s.Gateway, s.Tokens, s.Tokens, s.Trail, s.client, c.Log
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
	if r.Validator == nil {
		r.Validator = lint.Check
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
	l.BaseURL, l.Store, l.Users, l.Provider, l.Verifier, l.Visitors = c.BaseURL, s.Store, c.Users, s.OAuth.Legacy(),
		s.Tokens, s.SignIn
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
	o := console.Config{
		BaseURL: c.BaseURL, Store: s.Store, Visitors: s.SignIn, Revoker: s.Tokens, Trail: s.Trail,
		Billing: s.Gateway.Billing(),
		SignIn:  s.SignIn, Forms: s.SignIn, FactorsPage: s.SignIn.FactorsPage(), Lockout: s.SignIn, Delays: s.SignIn,
		Registry: registry.Forms{Registry: s.Registry}, Bus: s.Bus, Sample: true,
		Ways: s.ways, InvitationPage: s.invitations, Nodes: s.Nodes, ForgetApp: s.ForgetApp,
		ForgetUser: s.ForgetUser, Notifier: s.SignIn, Origins: c.Origins, ClientIP: s.client, Log: c.Log,
		Archive: s.Trail, Usage: s.Gateway.Usage(), Keys: s.Tokens, Vitals: s.vitals, Settings: c.Settings, Stored: s.stored,
		Counters: c.counting(),
	}
	if c.Users.Passwords != nil {
		o.Passwords = c.Users.Passwords
	}
	if c.Users.Creator != nil {
		o.Users = c.Users.Creator
	}
	if c.Users.In(s.Store) {
		o.Visit = s.SignIn.Visit
	} else {
		o.Table = c.Users.Users
	}
	if s.Console, err = console.New(ctx, o); err != nil {
		return err
	}
	s.add(s.Console)
	return nil
}
