package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"slices"
	"sync/atomic"

	"go.opentelemetry.io/otel/trace"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/gateway/internal/ranking"
	"github.com/keystile/keystile/gateway/internal/repeat"
	"github.com/keystile/keystile/gateway/limits"
	"github.com/keystile/keystile/gateway/stream"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/clientip"
	"github.com/keystile/keystile/internal/cors"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/span"
	"github.com/keystile/keystile/internal/urlpath"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	keyedcall "github.com/keystile/keystile/storage/keyed"
	storedranking "github.com/keystile/keystile/storage/ranking"
)

// Store holds the methods of storage that this package uses; *storage.Store has it.
type Store interface {
	billing.Store
	CreateApp(ctx context.Context, a storage.App, most int, limit storage.Quota) (storage.App, error)
	Apps(ctx context.Context, owner, from string, n int) ([]storage.App, string, error)
	ClosedApps(ctx context.Context, owner, from string, n int) ([]storage.App, string, error)
	User(ctx context.Context, sub string) (storage.User, error)
	OnChange(f func(storage.Change)) (stop func()) // of applications, by other processes
	usage.Store
	SaveRanking(ctx context.Context, r storedranking.Ranking) (storedranking.Ranking, error)
	KeyedCall(ctx context.Context, id string) (keyedcall.Call, error) // calls with an Idempotency-Key, see Config.FreeRepeats
	SaveKeyedCalls(ctx context.Context, calls ...keyedcall.Call) (version int64, err error)
}

// Tokens verifies bearer tokens and ends them; *oauth.Tokens does. It is asked on every request,
// so it must do no I/O for a token that it has seen before.
type Tokens interface {
	// Verify returns whom a token speaks for. Its audience must be one of audiences, or a name
	// right below one that ends in a slash; without any, the issuer. It returns
	// ErrInvalidToken for a token that is not valid; any other error means that it cannot be
	// verified now.
	Verify(ctx context.Context, bearer string, audiences ...string) (storage.Caller, error)
	// Resources returns the audiences besides the issuer (RFC 8707). Requests with such tokens are
	// counted here, but only handlers that verify these audiences themselves accept them, such as
	// the tool bus.
	Resources() []string
	// Revoke returns once no token that it covers is accepted in this process.
	Revoke(ctx context.Context, rs ...driver.Revocation) error
}

// Config holds what New needs. Zero values are the defaults of the protocol.
type Config struct {
	Store  Store  // required
	Tokens Tokens // required: oauth.OpenTokens
	Trail  *Trail // required: OpenTrail

	// Notifier notifies the owners of applications, by sub, of changes; nil: nobody is
	// notified. Notify does not wait for the delivery.
	Notifier interface {
		Notify(ctx context.Context, sub string, n event.Notice)
	}

	Decider    billing.Decider // decides about orders; nil: see billing.Config
	Plans      []billing.Plan  // nil: billing.Plans()
	Limiter    limits.Limiter  // nil: exact, within this process
	PerAddress int             // requests in any minute of an address without a valid token; 60 (protocol 8). A /56 of IPv6 may do 4 times as much, a /48 16 times
	Shadow     limits.Shadow   // rates that refuse nobody, and are reported
	Products   []string        // what calls may be charged to, beside Identity, AI, Payment, Storage and MCP
	CORS       CORS

	// FreeRepeats repetitions of a call that was charged are not charged again, if they have the
	// Idempotency-Key that it had, and come within 24 hours. 0: 3. -1: keys are not looked at.
	FreeRepeats int

	ExemptPaths []string // paths that are neither counted nor looked at; /healthz/ if nil

	// ErrorWriters write the refusals of Front and Guard, by path, where clients expect another shape than
	// JSON with code, errcode and msg. The headers are set already. A path that ends in a
	// slash covers everything below it.
	ErrorWriters map[string]func(w http.ResponseWriter, r *http.Request, status int, msg string)

	// HSTS makes Front send Strict-Transport-Security for a year (RFC 6797) on every answer. Set
	// it only for services that are reached by https: browsers that have seen it do not come
	// back by http.
	HSTS bool

	// Journal is a folder where charged calls are stored before they are answered, so that a
	// killed process loses none. "": a killed process loses up to a second of calls.
	Journal string

	// UsageStream says where to usage is shipped, an hour at a time. Every process on a store has it, or none:
	// calls of others are in no row.
	UsageStream stream.Config

	// TrustedProxies may report the method and path of a call that they ask about at
	// /api/v1/verify. Where ClientIP is nil, they may report the client's address too. nil:
	// none.
	TrustedProxies []netip.Prefix

	ClientIP func(*http.Request) netip.Addr // nil: the peer's address, or what TrustedProxies say it is
	Log      *slog.Logger                   // nil: slog.Default()

	// Tracer records a span of each request that comes through Front or a Guard, with those of everything
	// behind them below it; nil: none, unless a middleware in front has begun one. A parent that a request
	// names is anybody's word: its sampled flag is the provider's to judge.
	Tracer trace.TracerProvider
}

// Gateway checks, counts and charges requests, and answers below /api/v1/. Make it with New.
type Gateway struct {
	c         Config
	mux       http.Handler
	patterns  []string // of mux
	cors      *cors.Policy
	exempt    *urlpath.Set // Config.ExemptPaths
	limiter   limits.Limiter
	billing   *billing.Billing
	accounts  *accounts
	remaining *remaining
	reader    *usage.Reader
	ranking   *ranking.Keeper
	products  products
	proxies   clientip.Resolver
	ledger    *ledger.Ledger
	resources []string // of tokens that are for something else here, and have their rate
	shadows   shadows
	repeats   *repeat.Keeper // nil: keys are not looked at
	work      *work
	stream    *stream.Follower // of usage; nil: it is not shipped
	spans     *span.Tracer
	unfollow  func() // ends the watching of changes

	charged, overRate, uncounted atomic.Uint64
}

// New makes a Gateway. It reports everything that is wrong with the Config at once. Close
// ends it.
func New(ctx context.Context, c Config) (*Gateway, error) {
	g := &Gateway{work: newWork(), spans: span.New(c.Tracer)}
	err := g.complete(&c)
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	g.c = c
	g.accounts = newAccounts(c.Store, g.billing.Plan, g.work)
	g.remaining = newRemaining(g.readQuota, func(account string, calls *atomic.Int64) { g.ledger.Watch(account, calls) }, g.work)
	g.ranking = ranking.New(c.Store, c.Log)
	if g.ledger, err = ledger.Open(ctx, ledger.Config{Store: g.counts(), Path: c.Journal, Log: c.Log, Watched: g.remaining.watched, Stored: g.ranking.Add}); err != nil {
		return nil, errors.Join(fmt.Errorf("gateway: %w", err), g.ranking.Close(ctx))
	}
	if g.reader, err = usage.New(usage.Config{Store: c.Store, Billing: g.billing, Products: g.products.all(), Series: g.ledger.Series, SeriesOf: g.ledger.SeriesOf, Live: g.ranking.Live}); err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	if g.stream != nil {
		g.work.do(g.stream.Run)
	}
	g.resources = c.Tokens.Resources()
	g.unfollow = c.Store.OnChange(func(change storage.Change) {
		g.accounts.changed(change)
		g.remaining.changed(change)
	})
	own := reply.NewMux(c.Log, g.routes()...)
	g.mux, g.patterns = g.guard(guard{open: true, own: true, keyless: true}, own), own.Patterns()
	if c.FreeRepeats > 0 {
		g.repeats = repeat.New(c.Store, c.FreeRepeats)
	}
	return g, nil
}

// complete fills in the defaults.
func (g *Gateway) complete(c *Config) error {
	var errs []error
	complain := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if c.Tokens == nil {
		complain(errors.New("Tokens is missing: use oauth.OpenTokens"))
	}
	if c.Trail == nil {
		complain(errors.New("Trail is missing: use OpenTrail"))
	}
	if c.PerAddress = cmp.Or(c.PerAddress, 60); c.PerAddress < 0 && c.PerAddress != limits.Unlimited {
		complain(errors.New("PerAddress is above 0, or Unlimited"))
	}
	if c.FreeRepeats = cmp.Or(c.FreeRepeats, 3); c.FreeRepeats < -1 || c.FreeRepeats > maxFreeRepeats {
		complain(fmt.Errorf("FreeRepeats is up to %d, or -1", maxFreeRepeats))
	}
	if g.limiter = c.Limiter; g.limiter == nil {
		exact, err := limits.New()
		complain(err)
		g.limiter = exact
	}
	for _, name := range append([]string{Identity, AI, Payment, Storage, MCP}, c.Products...) {
		complain(g.products.add(name))
	}
	var err error
	g.billing, err = billing.New(billing.Config{
		Store: c.Store, Plans: c.Plans, Decider: c.Decider, Changed: g.Forget,
		Usage: func(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) { return g.ledger.Series(ctx, q) },
		UsageOf: func(ctx context.Context, apps []string, q driver.UsageQuery) (map[string][]driver.Count, error) {
			return g.ledger.SeriesOf(ctx, apps, q)
		},
	})
	complain(err)
	if err == nil {
		g.shadows, err = newShadows(c.Shadow, g.billing.Plans())
		complain(err)
	}
	if c.CORS.Open == nil {
		c.CORS.Open = openPaths
	}
	g.cors, err = cors.New(cors.Config{Open: slices.Concat(c.CORS.Open, c.CORS.AlsoOpen), Shared: c.CORS.Shared, Origins: c.CORS.Origins})
	complain(err)
	if c.ExemptPaths == nil {
		c.ExemptPaths = []string{"/healthz/"}
	}
	g.exempt = urlpath.NewSet(c.ExemptPaths)
	if g.proxies = clientip.New(c.TrustedProxies); c.ClientIP == nil {
		c.ClientIP = g.proxies.Of
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	complain(c.checkShipping())
	return errors.Join(errs...)
}

func (g *Gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.mux.ServeHTTP(w, r) }

// Patterns returns the patterns that are served here, as http.ServeMux writes them.
func (g *Gateway) Patterns() []string { return g.patterns }

// Forget drops the cached state of an application: call it when its tier was changed, or
// it was disabled or removed. Other processes that share the store notice within a second.
func (g *Gateway) Forget(clientID string) {
	g.accounts.forget(clientID)
	g.remaining.known.Delete(clientID)
}

// Health returns what keeps the gateway from working as it should, nil if nothing does.
func (g *Gateway) Health() error { return errors.Join(g.ledger.Health(), g.c.Trail.trail.Stats().Err) }

// Stats holds counters since the gateway was made.
type Stats struct {
	Charged      uint64 // calls counted against a quota
	Repeated     uint64 // repetitions under an Idempotency-Key, which were not charged again
	Unremembered uint64 // calls with a key that were charged without a look at it, or are not remembered: the store was away, or too many are
	OverRate     uint64 // requests refused because there were too many
	Uncounted    uint64 // calls that were not answered because they could not be counted
	AuditStored  uint64 // events on the trail
	AuditWaiting uint64 // noted, and not yet stored
	AuditLost    uint64 // that found the queue full

	AuditLostAnonymous uint64 // events of nobody who is known, that came too late to be summed

	// Shadowed has the requests that were let through over a rate of Config.Shadow: by tier, and under
	// "address". nil if every rate refuses.
	Shadowed map[string]uint64

	// JournalMapped: charged calls are stored into memory that the file of the journal shares, not
	// written to it one by one. It takes less time, and a kill loses none either way.
	JournalMapped bool
}

// Stats returns the counters.
func (g *Gateway) Stats() Stats {
	trail := g.c.Trail.trail.Stats()
	var repeated, unremembered uint64
	if g.repeats != nil {
		repeated, unremembered = g.repeats.Stats()
	}
	return Stats{
		Repeated: repeated, Unremembered: unremembered,
		Charged: g.charged.Load(), OverRate: g.overRate.Load(), Uncounted: g.uncounted.Load(),
		AuditStored: trail.Stored, AuditWaiting: trail.Waiting, AuditLost: trail.Lost, AuditLostAnonymous: trail.LostAnonymous,
		JournalMapped: g.ledger.Mapped(), Shadowed: g.shadows.counts(),
	}
}

// Mount registers the gateway's own endpoints with a router, such as an http.ServeMux.
func (g *Gateway) Mount(mux interface {
	Handle(pattern string, handler http.Handler)
}) {
	mux.Handle("/api/v1/", g)
}

// Close flushes the remaining counts to the store. Requests must be over. Close the Trail
// after it.
func (g *Gateway) Close(ctx context.Context) error {
	g.unfollow()
	g.work.close()
	err := errors.Join(g.ledger.Close(ctx), g.ranking.Close(ctx))
	if g.repeats != nil {
		err = errors.Join(err, g.repeats.Close(ctx))
	}
	return err
}

// Billing returns the rules about money over the gateway's own counts: what is owed and used has
// this process's last call in it. An order that it decides about holds for the next call.
func (g *Gateway) Billing() *billing.Billing { return g.billing }

// Usage returns what reads who has called how much, with this process's last call in it.
func (g *Gateway) Usage() *usage.Reader { return g.reader }
