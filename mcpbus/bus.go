package mcpbus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/clientip"
	"github.com/keystile/keystile/internal/hop"
	"github.com/keystile/keystile/internal/origin"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/lasthop"
	"github.com/keystile/keystile/storage/toolplan"
)

// Config holds the parameters of New. Zero values are the defaults.
type Config struct {
	BaseURL string  // the origin, such as https://id.example.com; required. The bus is served at Path below it
	Store   Store   // required
	Invoker Invoker // required
	Meter   Meter   // required

	// Verifier checks tokens of requests that came through no gateway; nil: those are refused.
	Verifier Verifier
	// Signer signs who makes a call, for upstreams that are told so (lasthop.Signed); *oauth.Tokens does; nil: such
	// calls fail.
	Signer interface {
		SignCaller(ctx context.Context, caller storage.Caller, c lasthop.Call) (statement string, err error)
	}
	// Discoverer lists the tools of quick registrations; nil: they stay as stored.
	Discoverer Discoverer
	// Pins keeps what owners accept of what the Discoverer finds (decision 92); *pins.Pins, of registry/pins, does.
	// nil: what is stored is accepted, and what differs is left out until its capability is registered again.
	//
	// Found gets the tools that the upstream of a capability lists, and those that were accepted so far. It returns the
	// capability and what is accepted of it now. storage.ErrConflict says that both have changed in the store.
	Pins interface {
		Found(ctx context.Context, c storage.Capability, accepted, found []toolplan.Tool) (storage.Capability,
			[]toolplan.Tool, error)
	}
	// Users returns the roles that access lists mention; nil: the Store. A host with
	// its own user table implements this. User returns the user with a sub, or an error that wraps
	// storage.ErrNotFound.
	Users interface {
		User(ctx context.Context, sub string) (storage.User, error)
	}
	// DefaultAccess decides who may use a capability without an access list, unless
	// storage.SettingDefaultAccess is set: storage.AccessOwner, which is the default, or
	// storage.AccessEveryone, for services none of whose users were strangers.
	DefaultAccess string
	// Visible reports whether a caller may list and call a tool that access lists allow; nil: always.
	// It is called for each tool of a list, and must be quick.
	Visible func(storage.Caller, storage.Capability, toolplan.Tool) bool

	Name         string   // server name shown to clients; Keystile
	Version      string   // server version shown to clients; 0.0.0
	Instructions string   // text for models: the purpose of the tools
	Scopes       []string // named in the challenge of the whole bus; tools
	Origins      []string // of pages that may call, besides the BaseURL; such as https://app.example.com

	MaxTools      int // on the bus; 100,000. A capability that would exceed it is left out; older ones have priority
	MaxOwnerTools int // of one owner, in the same way; 10,000

	MaxName     int           // characters of a tool's name, 40 to 64, for clients that put more in front; 64
	PageSize    int           // tools on a page of the list; 1,000, which is the maximum
	Refresh     time.Duration // interval of polling for changes by other processes; 5 s
	Discovery   time.Duration // interval of discovery for each upstream; 5 min
	KeepAlive   time.Duration // interval of keep-alive comments on an idle stream; 20 s
	Progress    time.Duration // interval of progress notifications to a client that requested them; 5 s
	PerCaller   int           // concurrent calls of one caller, a user of an application or an application itself; 16
	PerUpstream int           // concurrent calls to one upstream (scheme and host); 32
	PerListener int           // concurrent streams of one caller; 4

	// Audit records calls; *gateway.Trail does; nil: nothing is recorded. Note does not wait until
	// an event is stored.
	Audit interface {
		Note(e event.Event)
	}
	ClientIP func(*http.Request) netip.Addr // nil: the peer's address
	Log      *slog.Logger                   // nil: slog.Default()
}

type users interface {
	User(ctx context.Context, sub string) (storage.User, error)
}

// Bus serves Path, the bundles below it and their metadata documents.
type Bus struct {
	c        Config
	root     address
	self     string // the hop id that outgoing requests carry
	meta     []byte // _meta of results of the modern revision
	mux      *reply.Mux
	methods  map[string]method // of the legacy revisions
	modern   map[string]method
	snapshot atomic.Pointer[snapshot]
	catalog  catalogState
	leftOut  atomic.Pointer[map[string]string] // by member: why a published capability is left out
	roles    *facts[string]
	groups   *facts[[]access.Group]
	managed  *facts[[]string]
	tiers    *facts[storage.App]
	changed  chan struct{} // other processes have changed the catalog
	lag      lag
	unfollow func()

	callers, upstreams, streams slots
	listeners                   listeners
	cancellable                 cancellableCalls

	tasks  sync.WaitGroup  // streams and background goroutines
	runCtx context.Context // of tasks; Close cancels it
	stop   context.CancelFunc
}

// New makes a Bus and reads the catalog. Its error names everything that is wrong with the
// Config. The caller must Close the Bus.
func New(ctx context.Context, c Config) (*Bus, error) {
	if err := c.complete(); err != nil {
		return nil, fmt.Errorf("mcpbus: %w", err)
	}
	uri := c.BaseURL + Path
	b := &Bus{c: c, self: hop.ID(c.BaseURL), root: address{uri: uri, scopes: c.Scopes,
		metadata: c.BaseURL + metadataRoot + Path, audiences: []string{c.BaseURL, uri}}}
	b.roles, b.tiers = newFacts(roleMaxAge, b.roleOf), newFacts(tierMaxAge, b.tierOf)
	b.groups = newFacts(groupsMaxAge, c.Store.GroupsOf)
	b.managed = newFacts(groupsMaxAge, func(ctx context.Context, sub string) ([]string, error) {
		return managedBy(ctx, c.Store, sub)
	})
	b.runCtx, b.stop = context.WithCancel(context.Background())
	b.meta, _ = encode(meta{b.info()}) // texts never fail
	b.callers.limit, b.upstreams.limit, b.streams.limit = c.PerCaller, c.PerUpstream, c.PerListener
	b.methods, b.modern = legacyMethods(), modernMethods()
	b.snapshot.Store(newSnapshot(nil, new(rules)))
	b.leftOut.Store(&map[string]string{})
	b.catalog.sem = make(chan struct{}, 1)
	b.mux = reply.NewMux(c.Log, b.routes()...)
	b.changed = make(chan struct{}, 1)
	b.unfollow = c.Store.OnChange(b.follow)
	if err := b.Reload(ctx); err != nil {
		if b.catalog.rules == nil {
			b.unfollow()
			b.stop()
			return nil, err
		}
		b.c.Log.WarnContext(ctx, "mcpbus: some tools cannot be read, and are not listed", "err", err)
	}
	b.tasks.Go(b.refreshLoop)
	return b, nil
}

// ServeHTTP serves a path with a slash at its end as the path without it: people add one, and so do URL libraries.
func (b *Bus) ServeHTTP(w http.ResponseWriter, r *http.Request) { b.mux.ServeHTTP(w, withoutSlash(r)) }

// Patterns returns the served paths in the syntax of http.ServeMux. Mount also serves them with a slash at the end.
func (b *Bus) Patterns() []string { return b.mux.Patterns() }

// Mount registers the bus, its bundles and their RFC 9728 documents with a router, such as an
// http.ServeMux.
func (b *Bus) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
}) {
	for _, path := range append(append([]string{Path, Path + "/", metadataRoot + Path + "/"}, metadataPaths()...),
		bundlePaths()[1]) {
		mux.Handle(path, b)
	}
}

// Close ends streams and everything that runs beside the requests, and waits for it until
// ctx ends. Calls go on; to shut down a server, Close the bus first, because Shutdown
// waits for streams.
func (b *Bus) Close(ctx context.Context) error {
	b.unfollow()
	b.listeners.close()
	b.stop()
	done := make(chan struct{})
	go func() {
		b.tasks.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("mcpbus: not all streams and upstreams have ended: %w", context.Cause(ctx))
	}
}

// complete fills in the defaults.
func (c *Config) complete() error {
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	errs = append(errs, origin.Check("BaseURL", c.BaseURL))
	for _, o := range c.Origins {
		errs = append(errs, origin.CheckPage("Origins", o))
	}
	want(c.Store != nil, "Store is missing: use the storage.Store")
	want(c.Invoker != nil, "Invoker is missing: nothing can be called")
	want(c.Meter != nil, "Meter is missing: use the gateway.Gateway")
	c.PageSize = cmp.Or(c.PageSize, MaxPageSize)
	want(1 <= c.PageSize && c.PageSize <= MaxPageSize, "PageSize is 1 to 1,000, or 0 for 1,000")
	c.MaxName = cmp.Or(c.MaxName, MaxName)
	want(MinName <= c.MaxName && c.MaxName <= MaxName, "MaxName is 40 to 64, or 0 for 64")
	for _, n := range []struct {
		name     string
		value    *int
		fallback int
	}{{"MaxTools", &c.MaxTools, 100_000}, {"MaxOwnerTools", &c.MaxOwnerTools, 10_000}, {"PerCaller", &c.PerCaller, 16},
		{"PerUpstream", &c.PerUpstream, 32}, {"PerListener", &c.PerListener, 4}} {
		*n.value = cmp.Or(*n.value, n.fallback)
		want(*n.value > 0, "%s is above 0, or 0 for %d", n.name, n.fallback)
	}
	for _, d := range []struct {
		name            string
		value           *time.Duration
		fallback, least time.Duration
	}{
		{"Refresh", &c.Refresh, 5 * time.Second, time.Second}, {"Discovery", &c.Discovery, 5 * time.Minute, time.Second},
		{"KeepAlive", &c.KeepAlive, 20 * time.Second, time.Second}, {"Progress", &c.Progress, 5 * time.Second, time.Second},
	} {
		*d.value = cmp.Or(*d.value, d.fallback)
		want(*d.value >= d.least, "%s is at least %v, or 0 for %v", d.name, d.least, d.fallback)
	}
	c.Name, c.Version = cmp.Or(toolschema.Text(c.Name), "Keystile"), cmp.Or(toolschema.Text(c.Version), "0.0.0")
	c.Instructions = toolschema.Lines(c.Instructions)
	c.Scopes = scopesOf(c.Scopes)
	for _, s := range c.Scopes {
		want(s != "" && !strings.ContainsAny(s, ` "\`), "of Scopes, %q is not the name of a scope", s)
	}
	if c.Users == nil && c.Store != nil {
		c.Users = c.Store
	}
	c.DefaultAccess = cmp.Or(c.DefaultAccess, storage.AccessOwner)
	want(c.DefaultAccess == storage.AccessEveryone || c.DefaultAccess == storage.AccessOwner,
		"DefaultAccess %q is neither everyone nor owner", c.DefaultAccess)
	if c.Audit == nil {
		c.Audit = noAudit{}
	}
	if c.Pins == nil {
		c.Pins = pinsInMemory{}
	}
	if c.ClientIP == nil {
		c.ClientIP = clientip.New(nil).Of
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	return errors.Join(errs...)
}
