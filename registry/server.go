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
	"github.com/keystile/keystile/registry/internal/fields"
	"github.com/keystile/keystile/registry/internal/turns"
	"github.com/keystile/keystile/registry/pins"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/groups"
	"github.com/keystile/keystile/storage/toolplan"
)

type groupStore interface { // Group's error wraps storage.ErrNotFound
	Group(ctx context.Context, name string) (groups.Group, error)
}

// Store reads and writes capabilities; *storage.Store implements it.
type Store interface {
	Capability(ctx context.Context, member string) (storage.Capability, error)
	Capabilities(ctx context.Context, owner, from string, n int) ([]storage.Capability, string, error)
	Tools(ctx context.Context, member string) (storage.Capability, []toolplan.Tool, error)
	FindPlace(ctx context.Context, member, limited string) (storage.Place, error)
	StoredPlace(ctx context.Context, member string) (storage.Place, error)
	ToolsAt(ctx context.Context, p storage.Place) ([]toolplan.Tool, error)
	SaveAt(ctx context.Context, p storage.Place, c storage.Capability, tools []toolplan.Tool,
		allow func(owned []storage.Capability) error, events ...storage.Delivery) (storage.Place, error)
	DeleteCapability(ctx context.Context, c storage.Capability, events ...storage.Delivery) error

	// The queue of webhook messages.
	DueDeliveries(ctx context.Context, at time.Time, n int) ([]storage.Delivery, error)
	FirstDelivery(ctx context.Context, member string) (storage.Delivery, error)
	SaveDelivery(ctx context.Context, d storage.Delivery) (storage.Delivery, error)
	DeleteDelivery(ctx context.Context, d storage.Delivery) error

	groupStore // of groups, whose managers own what belongs to them
	users      // asked unless the Config has others
}

// Discoverer lists the tools of an upstream MCP endpoint; *mcpbus.Upstreams implements it.
type Discoverer interface {
	// Discover returns what the upstream lists, or an error soon after ctx has ended.
	Discover(ctx context.Context, c storage.Capability) (toolplan.Discovery, error)
}

// Bus serves the registered tools; *mcpbus.Bus implements it.
type Bus interface {
	// Update makes the bus serve a capability with its tools as they were just stored. created is the version that
	// made the capability, 0 if it was there before: rules of an older version were of another one of its name.
	Update(ctx context.Context, c storage.Capability, tools []toolplan.Tool, created int64) error
	// Reload makes the bus serve what is stored now.
	Reload(ctx context.Context) error
	// WhyUnlisted returns why a published capability is not listed, "" if it is. It is called after
	// Update.
	WhyUnlisted(member string) string
}

// Config holds the parameters of New.
type Config struct {
	BaseURL string // the service's own origin, required: its pages may register
	Store   Store  // required

	// Visitors authenticates browsers by their session: *signin.SignIn, required. Visitor returns
	// the session of a signed-in, enabled user, or an error that wraps storage.ErrNotFound if nobody
	// is signed in. Its AuthTime is the time of the last authentication; removal cannot be undone,
	// so it requires a recent one.
	// Proved reports whether a session has proved everything that its user has, including a second factor if there is
	// one; where there are no second factors, each has.
	Visitors interface {
		Visitor(r *http.Request) (storage.Session, error)
		Proved(ctx context.Context, v storage.Session) (bool, error)
	}

	// Visit is Visitor with the user of the session, as the Users have them, read for this request. nil: the Users are
	// asked once more.
	Visit func(r *http.Request) (storage.Session, storage.User, error)

	// Users returns the roles that permit registration; nil: the Store. A host with its own user table
	// implements this. User returns the user with a sub, or an error that wraps storage.ErrNotFound.
	Users interface {
		User(ctx context.Context, sub string) (storage.User, error)
	}

	// Audit records what is done to capabilities; *gateway.Trail does; nil: nothing is recorded. NoteNow returns
	// when the event is stored, or an error if it is not.
	Audit interface {
		NoteNow(ctx context.Context, e event.Event) error
	}

	// Validator judges documents where a preview asks for advice: lint.Check of package registry/lint. Nil: none is
	// judged.
	Validator func(ctx context.Context, document []byte) []string

	MaxCapabilities int // of one owner who is not an administrator; 50
	MaxTools        int // of one owner on the bus, which has the same limit; 10,000

	Discoverer Discoverer // for quick registrations; nil: the bus discovers their tools later
	Pins       *pins.Pins // what owners have accepted of those tools; nil: there are no endpoints to accept more
	Bus        Bus        // to reload after a change; nil: it polls the store
	NoDelivery bool       // this process sends no webhooks: they stay queued for one that does

	// AllowPrivateUpstreams lists the private addresses and networks that webhooks may go to. It should equal
	// mcpbus.UpstreamsConfig.AllowPrivateUpstreams: a capability at any other is warned that it cannot be called.
	AllowPrivateUpstreams []string
	Origins               []string // other origins whose pages may register, with their visitor's cookie
	ResolveRefs           bool     // nested references are resolved unless a request says otherwise

	ClientIP func(*http.Request) netip.Addr // nil: the peer's address
	Log      *slog.Logger                   // nil: slog.Default()
}

type users interface {
	User(ctx context.Context, sub string) (storage.User, error)
}

// Registry serves the endpoints that register capabilities. Make it with New.
type Registry struct {
	c       Config
	mux     *reply.Mux
	dialer  *netguard.Guard
	base    *url.URL
	sender  *webhook.Sender // nil: this process sends no webhooks
	access  *consoleauth.Guard
	reading turns.Readings
	showing turns.Turns
	finding turns.Turns
}

// Limits of what is done at a time, because of the memory that it takes: a document of 14 MB takes 100 MB while
// it is read, and 250 MB if it is YAML; what is shown of a large capability is copied several times.
const (
	maxReading      = 4 // registrations and previews, from the first byte of the body to the last of the answer
	maxOwnerReading = 1 // of one user, so that none keeps the others out
	maxParsers      = 2 // documents of these that are parsed
	maxShowing      = 8 // capabilities that are shown
	maxOwnerShowing = 2 // to one user
	maxFinding      = 4 // registrations whose upstream is asked for its tools
	maxOwnerFinding = 2 // of one user
)

// New makes a Registry. Its error names everything that is wrong with the Config.
//
// Unless the Config sets NoDelivery, it starts to send webhooks: those that are queued already,
// also by other processes, and those of later registrations. Messages are signed and retried
// according to Standard Webhooks; each arrives at least once, and those of a capability in order.
// Close stops it.
func New(_ context.Context, c Config) (*Registry, error) {
	r := &Registry{
		reading: turns.Readings{Turns: turns.Turns{Most: maxReading, MostOfOne: maxOwnerReading},
			Parsers: make(chan struct{}, maxParsers)},
		showing: turns.Turns{Most: maxShowing, MostOfOne: maxOwnerShowing},
		finding: turns.Turns{Most: maxFinding, MostOfOne: maxOwnerFinding},
	}
	var errs []error
	if c.Store == nil {
		errs = append(errs, errors.New("Store is missing"))
	}
	if c.Visitors == nil {
		errs = append(errs, fmt.Errorf("%s is missing: use oauth/signin", "Visitors"))
	}
	if c.Users == nil && c.Store != nil {
		c.Users = c.Store
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
	if c.ClientIP == nil {
		c.ClientIP = clientip.New(nil).Of
	}
	var err error
	if r.access, err = consoleauth.New(consoleauth.Config{BaseURL: c.BaseURL, Origins: c.Origins, Visitors: c.Visitors,
		Visit: c.Visit, Users: c.Users, Groups: c.Store, Types: fields.YAMLTypes, ClientIP: c.ClientIP}); err != nil {
		errs = append(errs, err)
	}
	if r.dialer, err = netguard.New(netguard.Config{Allow: c.AllowPrivateUpstreams}); err != nil {
		errs = append(errs, fmt.Errorf("AllowPrivateUpstreams: %w", err))
	}
	if r.base, err = url.Parse(c.BaseURL); err != nil { // then BaseURL is no origin, which was reported above
		r.base = &url.URL{}
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

// Patterns returns the served paths in the syntax of http.ServeMux.
func (g *Registry) Patterns() []string { return g.mux.Patterns() }

// Mount registers the endpoints with a router, such as an http.ServeMux.
func (g *Registry) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
}) {
	mux.Handle("/api/console/", g)
}

// closeTimeout bounds how long Close waits for a message that is being sent.
const closeTimeout = 2 * time.Second

// Close stops sending webhooks. Queued ones stay in the store for the next process.
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
	pathPins     = pathOne + "/pins"
)

// routes returns the package's route table.
func (g *Registry) routes() []reply.Route {
	read := []string{http.MethodGet, http.MethodHead}
	return []reply.Route{
		{Path: pathAll, Methods: read, Handle: g.list},
		{Path: pathRegister, Methods: []string{http.MethodPost}, Handle: g.register},
		{Path: pathPreview, Methods: []string{http.MethodPost}, Handle: g.preview},
		{Path: pathOne, Methods: append(read, http.MethodPatch, http.MethodDelete), Handle: g.one},
		{Path: pathPins, Methods: append(read, http.MethodPost), Handle: g.pinsOfOne},
	}
}
