package gateway

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/limits"
	"github.com/keystile/keystile/storage"
)

const (
	appFresh = 5 * time.Second // how old what is known of an application may be before it is read again
	appRoom  = 100_000         // applications to remember; beyond it, all are forgotten and read anew
)

// account is what the gateway knows of an application. It never changes; a newer one takes
// its place.
type account struct {
	storage.App
	Tier  string // now; it hides the App's, which is that of its beginning
	plan  billing.Plan
	until time.Time // the tier holds till then; zero: no end is agreed on
	key   string    // in the limiter
	read  time.Time
}

// accounts remembers applications, so that a call costs no read of the store. What is old
// is used once more while it is read again beside the request: a store that hangs stops
// no call of an application that has called before. What Forget is told of is read at once.
type accounts struct {
	store   Store
	plan    func(tier string) billing.Plan
	known   sync.Map // client_id: *account
	room    atomic.Int64
	reading sync.Map // client_id: struct{}, being read again
	work    *work
}

func (a *accounts) of(ctx context.Context, id string, now time.Time) (*account, error) {
	v, ok := a.known.Load(id)
	if !ok {
		return a.fetch(ctx, id, now)
	}
	known := v.(*account)
	if !known.until.IsZero() && !now.Before(known.until) { // the tier has changed as agreed
		next := a.open(known.App, now)
		next.read = known.read // it is as old as it was
		a.known.CompareAndSwap(id, known, next)
		known = next
	}
	if now.Sub(known.read) >= appFresh {
		if _, busy := a.reading.LoadOrStore(id, struct{}{}); !busy {
			a.work.do(func(ctx context.Context) {
				defer a.reading.Delete(id)
				a.fetch(ctx, id, time.Now())
			})
		}
	}
	return known, nil
}

// fetch reads an application. One that has gone is forgotten; after any other failure what
// was known stays.
func (a *accounts) fetch(ctx context.Context, id string, now time.Time) (*account, error) {
	app, err := a.store.App(ctx, id)
	if isNotFound(err) {
		a.forget(id)
	}
	if err != nil {
		return nil, err
	}
	known := a.open(app, now)
	if _, there := a.known.Swap(id, known); !there && a.room.Add(1) > appRoom {
		a.known.Clear()
		a.room.Store(0)
	}
	return known, nil
}

func (a *accounts) open(app storage.App, now time.Time) *account {
	tier := app.TierAt(now)
	return &account{App: app, Tier: tier, plan: a.plan(tier), until: app.TierUntil(now), key: limits.AppKey(app.ID), read: now}
}

func (a *accounts) forget(id string) {
	if _, there := a.known.LoadAndDelete(id); there {
		a.room.Add(-1)
	}
}
