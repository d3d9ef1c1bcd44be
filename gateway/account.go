package gateway

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/internal/cache"
	"github.com/keystile/keystile/storage"
)

const (
	appFresh    = 5 * time.Second // how old what is known of an application may be before it is read again
	maxAccounts = 100_000         // applications to remember; beyond it, those that have not called for long are read anew
)

// account holds what the gateway remembers about an application. It never changes; a newer
// one takes its place.
type account struct {
	storage.App
	Tier  string // now; it hides the App's, which is that of its beginning
	plan  billing.Plan
	until time.Time // the tier holds till then; zero: no end is agreed on
	read  time.Time
}

// payer returns the application as billing knows who calls: under the ID that calls are charged to.
// An application that nobody registered here has as many of them as it has users.
func (a *account) payer(caller storage.Caller) storage.App {
	app := a.App
	app.ID = caller.Account()
	return app
}

// accounts remembers applications, so that a call costs no read of the store. A stale
// account is used once more while it is read again in the background, so a store that does
// not answer stops no application that has called before. An account that was forgotten is
// read at once.
//
// Forget makes a change take effect at once in this process; a change in another process forgets the
// application here within a second. The users of an application that registered itself have nothing to do with
// each other, so each has an account of their own, below that of the application, which is cached once
// (decision 55).
type accounts struct {
	store      Store
	plan       func(tier string) billing.Plan
	known      *cache.Cache[string, *account] // by client_id
	reading    sync.Map                       // client_id: struct{}, being read again
	forgot     atomic.Uint64                  // rises whenever something is forgotten
	background *background
}

func newAccounts(store Store, plan func(tier string) billing.Plan, background *background) *accounts {
	return &accounts{store: store, plan: plan, background: background, known: cache.New[string, *account](maxAccounts)}
}

func (a *accounts) of(ctx context.Context, id string, now time.Time) (*account, error) {
	known, ok := a.known.Get(id)
	if !ok {
		return a.fetch(ctx, id, now)
	}
	if !known.until.IsZero() && !a.store.Later(now).Before(known.until) { // the tier has changed as agreed
		next := a.open(known.App, now)
		next.read = known.read // it is as old as it was
		a.known.Update(id, func(last *account) *account {
			if last != known {
				return last // it was read meanwhile
			}
			return next
		})
		known = next
	}
	if now.Sub(known.read) >= appFresh {
		if _, busy := a.reading.LoadOrStore(id, struct{}{}); !busy {
			a.background.do(func(ctx context.Context) {
				defer a.reading.Delete(id)
				a.fetch(ctx, id, time.Now())
			})
		}
	}
	return known, nil
}

// fetch reads an application. A removed one is forgotten; after any other failure the old
// account stays.
func (a *accounts) fetch(ctx context.Context, id string, now time.Time) (*account, error) {
	before := a.forgot.Load()
	app, err := a.store.App(ctx, id)
	if isNotFound(err) {
		a.forget(id)
	}
	if err != nil {
		return nil, err
	}
	known := a.open(app, now)
	a.known.Put(id, known)
	if a.forgot.Load() != before { // it may have been read before the change that it was forgotten for
		a.known.Delete(id)
	}
	return known, nil
}

// open takes the tier of the time by which the store dates, whatever the clock of this machine says.
func (a *accounts) open(app storage.App, now time.Time) *account {
	at := a.store.Later(now)
	tier := app.TierAt(at)
	return &account{App: app, Tier: tier, plan: a.plan(tier), until: app.TierUntil(at), read: now}
}

func (a *accounts) forget(ids ...string) {
	a.forgot.Add(1)
	for _, id := range ids {
		a.known.Delete(id)
	}
}

// changed forgets what a process has changed.
func (a *accounts) changed(c storage.Change) {
	switch {
	case c.Kind != storage.ChangedApps:
	case c.IDs == nil:
		a.forgot.Add(1)
		a.known.Clear()
	default:
		a.forget(c.IDs...)
	}
}
