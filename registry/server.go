package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/keystile/keystile/internal/clientip"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/webhook"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/toolplan"
)

// Store is what this room asks of storage; *storage.Store has it.
type Store interface {
	Capability(ctx context.Context, member string) (storage.Capability, error)
	Capabilities(ctx context.Context, owner, from string, n int) ([]storage.Capability, string, error)
	Tools(ctx context.Context, member string) (storage.Capability, []toolplan.Tool, error)
	CapabilityLike(ctx context.Context, member string) (storage.Capability, error)
	SaveCapabilityIf(ctx context.Context, c storage.Capability, tools []toolplan.Tool, allow func(owned []storage.Capability) error, events ...storage.Delivery) (storage.Capability, error)
	DeleteCapability(ctx context.Context, c storage.Capability, events ...storage.Delivery) error

	// What webhooks are to be told waits here; Deliver sends it.
	DueDeliveries(ctx context.Context, at time.Time, n int) ([]storage.Delivery, error)
	FirstDelivery(ctx context.Context, member string) (storage.Delivery, error)
	SaveDelivery(ctx context.Context, d storage.Delivery) (storage.Delivery, error)
	DeleteDelivery(ctx context.Context, d storage.Delivery) error
}

// Discoverer asks an upstream MCP endpoint for its tools; *mcpbus.Upstreams does.
type Discoverer interface {
	// Find returns what the upstream lists, or an error soon after ctx has ended.
	Find(ctx context.Context, c storage.Capability) (tools []toolplan.Tool, skipped []toolplan.Skip, err error)
}

// Bus serves what is registered; *mcpbus.Bus does.
type Bus interface {
	// Reload makes whoever asks next see what is stored now.
	Reload(ctx context.Context) error
	// LeftOut says why a published capability is not shown, "" if it is. It is asked after Reload.
	LeftOut(member string) string
}

// Config is what New needs.
type Config struct {
	BaseURL string // the service's own origin, required: its pages may register
	Store   Store  // required

	// Visitors know who sits in front of the browser: *signin.SignIn, required. Visitor returns
	// the session of a signed-in, enabled user, or an error that wraps storage.ErrNotFound if nobody
	// is signed in. Its AuthTime is when they last proved who they are: what was removed does not
	// come back, so that takes a recent one.
	Visitors interface {
		Visitor(r *http.Request) (storage.Session, error)
	}

	// Users say who may register; nil: the Store, if it has them. A host with its own user table
	// implements this. User returns the user with a sub, or an error that wraps storage.ErrNotFound.
	Users interface {
		User(ctx context.Context, sub string) (storage.User, error)
	}

	// Audit is where registrations are written down, such as *gateway.Trail; nil: nothing is.
	// NoteNow returns when the event is stored, or why it is not.
	Audit interface {
		NoteNow(ctx context.Context, e event.Event) error
	}

	MaxCapabilities int // of one owner who is no administrator; 50
	MaxTools        int // of one owner on the bus, which has the same limit; 10,000

	Discoverer Discoverer // of quick registrations; nil: their tools are found later, by the bus
	Bus        Bus        // that shows what is registered here; nil: it finds out by itself
	NoDelivery bool       // webhooks are not told from here: what is queued waits for a process that serves

	// AllowPrivateUpstreams are the addresses and networks that calls may go to although
	// they are private. Here they only spare a warning.
	AllowPrivateUpstreams []string
	Origins               []string // other origins whose pages may register, with their visitor's cookie
	ResolveRefs           bool     // nested references are shown unless a request says otherwise

	ClientIP func(*http.Request) netip.Addr // nil: the peer's address
	Log      *slog.Logger                   // nil: slog.Default()
}

type users interface {
	User(ctx context.Context, sub string) (storage.User, error)
}

// Registry is the registrar. Make it with New.
type Registry struct {
	c           Config
	mux         *reply.Mux
	dialer      *netguard.Guard
	base        *url.URL
	sender      *webhook.Sender // nil: nothing is sent from here
	access      *consoleauth.Guard
	parserSlots chan struct{} // a place for each document that is read at a time
}

// maxParsers is how many documents are read at a time: one of 14 MB takes 100 MB.
const maxParsers = 2

// New makes a Registry. It says everything that is wrong with the Config at once.
//
// From then on, unless the Config says NoDelivery, webhooks are told what becomes of their capabilities: what is queued already, also
// by other processes, and what is registered meanwhile. Messages are signed and repeated as
// Standard Webhooks has it; each arrives at least once, and those of a capability in their order.
// Close ends that.
func New(_ context.Context, c Config) (*Registry, error) {
	r := &Registry{parserSlots: make(chan struct{}, maxParsers)}
	var errs []error
	if c.Store == nil {
		errs = append(errs, errors.New("Store is missing"))
	}
	if c.Visitors == nil {
		errs = append(errs, errors.New("Visitors is missing: use oauth/signin"))
	}
	if c.Users == nil {
		if c.Users, _ = c.Store.(users); c.Users == nil {
			errs = append(errs, errors.New("Users is missing: name who knows the roles of users"))
		}
	}
	for _, n := range []struct {
		name     string
		value    *int
		fallback int
	}{{"MaxCapabilities", &c.MaxCapabilities, 50}, {"MaxTools", &c.MaxTools, 10_000}} {
		if *n.value = cmp.Or(*n.value, n.fallback); *n.value < 0 {
			errs = append(errs, fmt.Errorf("%s is above 0, or 0 for %d", n.name, n.fallback))
		}
	}
	var err error
	if r.access, err = consoleauth.New(consoleauth.Config{BaseURL: c.BaseURL, Origins: c.Origins, Visitors: c.Visitors, Users: c.Users, Types: yamlTypes}); err != nil {
		errs = append(errs, err)
	}
	if r.dialer, err = netguard.New(netguard.Config{Allow: c.AllowPrivateUpstreams}); err != nil {
		errs = append(errs, fmt.Errorf("AllowPrivateUpstreams: %w", err))
	}
	if r.base, err = url.Parse(c.BaseURL); err != nil { // it is no origin then, which is said already
		r.base = &url.URL{}
	}
	if c.ClientIP == nil {
		c.ClientIP = clientip.New(nil).Of
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("registry: %w", errors.Join(errs...))
	}
	if !c.NoDelivery {
		if r.sender, err = webhook.New(webhook.Config{Store: c.Store, Client: r.dialer.Client(0), Log: c.Log}); err != nil {
			return nil, fmt.Errorf("registry: %w", err)
		}
	}
	r.c = c
	r.mux = reply.NewMux(c.Log, r.routes()...)
	return r, nil
}

func (g *Registry) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.mux.ServeHTTP(w, r) }

// Patterns returns the paths that are served here, as http.ServeMux writes them.
func (g *Registry) Patterns() []string { return g.mux.Patterns() }

// Mount hangs the endpoints into a router, such as an http.ServeMux.
func (g *Registry) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
}) {
	mux.Handle("/api/console/", g)
}

// closeTimeout is what a message under way gets to arrive when the Registry is closed.
const closeTimeout = 2 * time.Second

// Close stops telling webhooks. What is queued is told by the next process.
func (g *Registry) Close(ctx context.Context) error {
	if g.sender == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, closeTimeout)
	defer cancel()
	return g.sender.Close(ctx)
}

// Paths of the endpoints (protocol 4.8).
const (
	pathAll      = "/api/console/capabilities"
	pathRegister = pathAll + "/register"
	pathPreview  = pathAll + "/preview"
	pathOne      = pathAll + "/{member}"
)

// routes is the room's one table.
func (g *Registry) routes() []reply.Route {
	read := []string{http.MethodGet, http.MethodHead}
	return []reply.Route{
		{Path: pathAll, Methods: read, Handle: g.list},
		{Path: pathRegister, Methods: []string{http.MethodPost}, Handle: g.register},
		{Path: pathPreview, Methods: []string{http.MethodPost}, Handle: g.preview},
		{Path: pathOne, Methods: append(read, http.MethodDelete), Handle: g.showOrRemove},
	}
}
