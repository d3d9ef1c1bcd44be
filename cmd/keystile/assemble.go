package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"github.com/keystile/keystile/cmd/keystile/config"
	"github.com/keystile/keystile/cmd/keystile/demo"
	"github.com/keystile/keystile/cmd/keystile/internal/requests"
	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/internal/clientip"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/legacy"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
)

// Front stands before every request: it gives it an id and writes it down.
type Front func(http.Handler) http.Handler

// assembled is what the program serves, and what it needs to know of it.
type assembled struct {
	http.Handler
	provider *oauth.Server
	signIn   *signin.SignIn
	gateway  *gateway.Gateway
	registry *registry.Registry
	bus      *mcpbus.Bus
	tools    *mcpbus.Upstreams
	beside   sync.WaitGroup // what runs beside the requests
	end      context.CancelFunc
}

// assemble is where the rooms meet: it makes them, hands each what it asks for, and puts
// a door with an address on it. Nothing else in the program knows two rooms. A nil observer
// is none. The caller closes what is returned.
func assemble(ctx context.Context, c *config.Config, base string, home *home, log *slog.Logger, observer requests.Observer) (*assembled, error) {
	b := &builder{c: c, base: base, home: home, log: log, client: reqctx.Address(clientip.New(c.TrustedProxies).Of)}
	if err := b.build(ctx); err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	b.deliver()
	var front Front = requests.Front(requests.Config{Log: log, Quiet: !c.LogRequests, ClientIP: b.client, Observer: observer})
	b.Handler = front(b.gateway.Front(b.behind.before(b.doors, log)))
	return &b.assembled, nil
}

// builder is the rooms while they are being made, one after the other.
type builder struct {
	assembled
	c       *config.Config
	base    string
	home    *home
	log     *slog.Logger
	client  func(*http.Request) netip.Addr
	trail   late
	grants  lateGrants
	console *console.Console
	legacy  *legacy.Legacy
	doors   house
	behind  products
}

// build makes the rooms, each from those before it, and hangs the doors.
func (b *builder) build(ctx context.Context) error {
	for _, step := range []func(context.Context) error{b.frontDoor, b.watch, b.administration, b.scribe, b.toolBus, b.oldDoors, b.hang} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// lateGrants is the provider for sign-in, which is made before it, and ends what was granted.
type lateGrants struct{ *oauth.Server }

// late is the gateway for rooms that are made before it, and write on its trail.
type late struct{ *gateway.Gateway }

func (b *builder) frontDoor(ctx context.Context) (err error) {
	c := b.c
	connectors, err := b.connectors()
	if err != nil {
		return err
	}
	mailer, err := mailerOf(c, b.home.Mail(), b.log)
	if err != nil {
		return err
	}
	b.signIn, err = signin.New(ctx, signin.Config{
		Connectors: connectors,
		BaseURL:    b.base, Store: b.home.store, Users: b.home.users, Log: b.log, ClientIP: b.client, Audit: &b.trail,
		Lock:        signin.Lock{Failures: c.LockFailures, Within: c.LockWindow, For: c.LockDuration},
		SessionIdle: c.SessionIdle, SessionMax: c.SessionMax, NoQR: !c.QR,
		Mailer: mailer, SignUp: c.SignUp, Revoker: &b.grants,
	})
	if err != nil {
		return err
	}
	b.provider, err = oauth.New(ctx, oauth.Config{
		Issuer: b.base, Store: b.home.store, SignIn: b.signIn, Consent: b.signIn, Log: b.log, ClientIP: b.client, Audit: &b.trail,
		CodeLifetime: c.CodeLifetime, AccessLifetime: c.AccessLifetime, RefreshLifetime: c.RefreshLifetime,
		CodeReuseLeeway: c.CodeReuseLeeway, RefreshReuseLeeway: c.RefreshReuseLeeway,
		IDTokenAlgs: c.IDTokenAlgs, SigningAlg: c.SigningAlg, Resources: mcpbus.Resources(b.base),
	})
	b.grants.Server = b.provider
	return err
}

func (b *builder) watch(ctx context.Context) (err error) {
	b.gateway, err = gateway.New(ctx, gateway.Config{
		Store: b.home.store, Verifier: b.provider, Log: b.log, ClientIP: b.client, TrustedProxies: b.c.TrustedProxies, Journal: b.home.Journal(),
		Plans: plansOf(b.c), PerAddress: b.c.PerAddress, Products: namesOf(b.c.Products), CORS: corsOf(b.c), Audiences: mcpbus.Resources(b.base),
		Notifier: b.signIn, HSTS: strings.HasPrefix(b.base, "https://"),
		Free:   append([]string{"/healthz/"}, signin.FreePaths()...),
		Voices: map[string]func(http.ResponseWriter, *http.Request, int, string){mcpbus.Path: mcpbus.Voice, mcpbus.Path + "/": mcpbus.Voice},
	})
	b.trail.Gateway = b.gateway
	return err
}

func (b *builder) administration(context.Context) (err error) {
	b.console, err = console.New(console.Config{
		BaseURL: b.base, Store: b.home.store, Visitors: b.signIn, Users: b.home.users, Revoker: b.provider, Trail: b.gateway, Quotas: b.gateway,
		Forget: b.gateway.Forget, Notifier: b.signIn, Origins: b.c.Origins, ClientIP: b.client, Log: b.log,
	})
	return err
}

func (b *builder) scribe(context.Context) (err error) {
	if b.tools, err = mcpbus.NewUpstreams(mcpbus.UpstreamsConfig{AllowPrivateUpstreams: b.c.PrivateUpstreams, MaxAnswer: b.c.Bus.MaxAnswer, Log: b.log}); err != nil {
		return err
	}
	b.registry, err = registry.New(registry.Config{
		BaseURL: b.base, Store: b.home.store, Visitors: b.signIn, Log: b.log, ClientIP: b.client, Audit: &b.trail,
		Origins: b.c.Origins, AllowPrivateUpstreams: b.c.PrivateUpstreams, ResolveRefs: b.c.ResolveRefs,
		Discoverer: b.tools, Changed: b.changed, OffBus: b.offBus, MaxCapabilities: b.c.MaxCapabilities, MaxTools: b.c.MaxTools,
	})
	return err
}

func (b *builder) toolBus(ctx context.Context) (err error) {
	b.bus, err = mcpbus.New(ctx, mcpbus.Config{
		Issuer: b.base, Catalog: b.home.store, Invoker: b.tools, Meter: b.gateway, Verifier: b.provider, Discoverer: b.tools,
		Version: versionOf(), Log: b.log, ClientIP: b.client, MaxOwnerTools: b.c.MaxTools, DefaultAccess: defaultAccess(b.c),
		Origins: b.c.Bus.Origins, PageSize: b.c.Bus.PageSize,
	})
	return err
}

// defaultAccess is who may use a tool that nobody has said anything about: everyone, unless
// strangers become users (entry 54 of the decisions).
func defaultAccess(c *config.Config) string {
	if c.SignUp == "closed" {
		return storage.AccessEveryone
	}
	return storage.AccessOwner
}

// forget makes the rooms read an application, or a user, anew.
func (a *assembled) forget(id string) {
	a.gateway.Forget(id)
	a.bus.Forget(id)
}

// deliver sends what webhooks are to be told, and removes what the trail need not keep, until
// the rooms are closed.
func (b *builder) deliver() {
	ctx, end := context.WithCancel(context.Background())
	b.end = end
	b.beside.Go(func() {
		if err := b.registry.Deliver(ctx); err != nil {
			b.log.Error("webhooks are not told", "err", err)
		}
	})
	keeper := audit.Keeper{
		Store: b.home.store, Keep: b.c.AuditKeep, Bytes: b.c.AuditSize, Reached: b.home.store.Reached, Note: b.gateway.NoteNow, Log: b.log,
	}
	b.beside.Go(func() { keeper.Run(ctx) })
}

// changed makes the bus show what was registered to whoever asks next.
func (b *builder) changed(member string) {
	ctx, cancel := context.WithTimeout(context.Background(), reloading)
	defer cancel()
	if err := b.bus.Reload(ctx); err != nil {
		b.log.Warn("the bus does not know of a registration yet", "member", member, "err", err)
	}
}

// offBus says why the bus, which is made after the registrar, leaves a capability out.
func (b *builder) offBus(member string) string { return b.bus.LeftOut(member) }

func (b *builder) oldDoors(context.Context) (err error) {
	b.legacy, err = legacy.New(legacy.Config{
		Issuer: b.base, Store: b.home.store, SignIns: b.provider, Codes: b.provider, Verifier: b.provider, Visitors: b.signIn,
		ErrorStatus: b.c.LegacyStatus, Audit: &b.trail, ClientIP: b.client, Log: b.log,
	})
	return err
}

// hang hangs the doors.
func (b *builder) hang(context.Context) (err error) {
	userInfo := b.gateway.Meter(gateway.Identity, b.provider)
	if b.c.Demo {
		b.doors = append(b.doors, door{demo.Path, demo.New(demo.Config{BaseURL: b.base, Store: b.home.store, Provider: b.provider, Log: b.log})})
	}
	if b.behind, err = b.products(); err != nil {
		return err
	}
	for _, path := range mcpbus.MetadataPaths() {
		b.doors = append(b.doors, door{path, b.bus})
	}
	for _, path := range console.Paths() {
		b.doors = append(b.doors, door{path, b.console})
	}
	b.doors = append(b.doors, house{
		{"/oauth/signin", b.signIn},
		{"/oauth/account", b.signIn},
		{"/oauth/userinfo", userInfo},
		{"/oauth/userinfo.php", userInfo},
		{"/oauth", b.provider},
		{"/.well-known", b.provider},
		{"/api/v1", b.gateway},
		{"/api/console", b.registry},
		{mcpbus.Path, b.bus},
		{"/connect", b.legacy}, {"/connect.php", b.legacy}, {"/check_token", b.legacy}, {"/check_token.php", b.legacy},
		{"/", newLobby(b.c, b.base, b.openAPI(), b.home.store, b.log)},
	}...)
	return nil
}

// close ends the rooms, once nobody asks any more. What is counted and noted goes to the
// store last: the others write there.
func (a *assembled) close(ctx context.Context) error {
	var errs []error
	if a.bus != nil {
		errs = append(errs, a.bus.Close(ctx))
	}
	if a.signIn != nil {
		errs = append(errs, a.signIn.Close(ctx))
	}
	if a.end != nil {
		a.end()
		a.beside.Wait()
	}
	if a.tools != nil {
		errs = append(errs, a.tools.Close(ctx))
	}
	if a.gateway != nil {
		errs = append(errs, a.gateway.Close(ctx))
	}
	return errors.Join(errs...)
}

// plansOf is the table of spec 8 with the operator's price of what goes beyond a quota.
func plansOf(c *config.Config) []gateway.Plan {
	plans := gateway.Plans()
	for i := range plans {
		plans[i].OverFen = int64(c.OverageFen)
	}
	return plans
}

// corsOf opens the proxied services to every origin, as the gateway's own endpoints are,
// and the console to those the operator lists.
func corsOf(c *config.Config) gateway.CORS {
	open := gateway.OpenPaths()
	for _, p := range c.Products {
		if p.Upstream != "" {
			open = append(open, p.Prefix, p.Prefix+"/")
		}
	}
	return gateway.CORS{Open: open, Shared: []string{"/api/console/"}, Origins: c.Origins}
}
