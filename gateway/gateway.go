package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/gateway/internal/ranking"
	"github.com/keystile/keystile/gateway/internal/repeat"
	"github.com/keystile/keystile/gateway/internal/shipper"
	"github.com/keystile/keystile/gateway/internal/streams"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/clientip"
	"github.com/keystile/keystile/internal/cors"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/span"
	"github.com/keystile/keystile/internal/urlpath"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
)

// Gateway checks, counts and charges requests, and answers below /api/v1/. Make it with New.
type Gateway struct {
	c          Config
	mux        http.Handler
	patterns   []string // of mux
	cors       *cors.Policy
	exempt     *urlpath.Set // Config.ExemptPaths
	limiter    counters.Limiter
	billing    *billing.Billing
	accounts   *accounts
	remaining  *remaining
	reader     *usage.Reader
	ranking    *ranking.Keeper
	products   products
	proxies    clientip.Resolver
	ledger     *ledger.Ledger
	resources  []string // of tokens that are for something else here, and have their rate
	shadows    shadows
	repeats    *repeat.Keeper // nil: keys are not looked at
	background *background
	stream     *shipper.Follower // of usage; nil: it is not shipped
	spans      *span.Tracer
	streams    *streams.Watcher
	unfollow   func() // ends the watching of changes

	charged, overRate, uncounted, streamsCut atomic.Uint64
}

// New makes a Gateway. It reports everything that is wrong with the Config at once. Close
// ends it.
func New(ctx context.Context, c Config) (*Gateway, error) {
	g := &Gateway{background: newBackground(), spans: span.New(c.Tracer)}
	err := g.complete(&c)
	if err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	g.c = c
	g.accounts = newAccounts(c.Store, g.billing.Plan, g.background)
	g.remaining = newRemaining(g.readQuota, func(account string, calls *atomic.Int64) { g.ledger.Watch(account, calls) },
		g.background)
	g.ranking = ranking.New(c.Store, c.Log)
	if g.ledger, err = ledger.Open(ctx, ledger.Config{Store: g.counts(), Path: c.Journal, Log: c.Log,
		Watched: g.remaining.watched, Stored: g.ranking.Add}); err != nil {
		return nil, errors.Join(fmt.Errorf("gateway: %w", err), g.ranking.Close(ctx))
	}
	if g.reader, err = usage.New(usage.Config{Store: c.Store, Billing: g.billing, Products: g.products.all(),
		Series: g.ledger.Series, SeriesOf: g.ledger.SeriesOf, Live: g.ranking.Live}); err != nil {
		return nil, fmt.Errorf("gateway: %w", err)
	}
	if g.stream != nil {
		g.background.do(g.stream.Run)
	}
	g.resources = c.Tokens.Resources()
	g.streams = g.newStreams()
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
	if c.PerAddress = cmp.Or(c.PerAddress, 60); c.PerAddress < 0 && c.PerAddress != counters.Unlimited {
		complain(errors.New("PerAddress is above 0, or Unlimited"))
	}
	if c.FreeRepeats = cmp.Or(c.FreeRepeats, 1); c.FreeRepeats < -1 || c.FreeRepeats > maxFreeRepeats {
		complain(fmt.Errorf("FreeRepeats is up to %d, or -1", maxFreeRepeats))
	}
	if c.StreamLife < 0 {
		complain(errors.New("StreamLife is negative"))
	}
	if g.limiter = c.Limiter; g.limiter == nil {
		g.limiter = counters.NewLimiter()
	}
	for _, name := range append([]string{ProductIdentity, ProductAI, ProductPayment, ProductStorage, ProductMCP},
		c.Products...) {
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
	g.cors, err = cors.New(cors.Config{Open: slices.Concat(c.CORS.Open, c.CORS.AlsoOpen), Shared: c.CORS.Shared,
		Origins: c.CORS.Origins})
	complain(err)
	g.exempt = urlpath.NewSet(append([]string{"/healthz/"}, c.ExemptPaths...))
	if g.proxies = clientip.New(c.TrustedProxies); c.ClientIP == nil {
		c.ClientIP = g.proxies.Of
	}
	if c.Log == nil {
		c.Log = slog.Default()
	}
	complain(shipper.Check(&c.UsageStream))
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
	g.background.close()
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
