package gateway

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/internal/cache"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
)

const (
	maxRemaining   = 100_000                // accounts whose quota is remembered
	maxReads       = 64                     // of quotas at a time
	remainingFresh = 5 * time.Second        // how old it may be before it is read again: other processes charge too
	firstRemaining = 200 * time.Millisecond // that the first call of an account waits for it
)

// remaining remembers what is left of quotas, so that no call waits for the store to learn it.
//
// Models learn with each result of a tool what is left of the quota, so it is remembered for up to 100,000
// accounts, and read again beside a call every five seconds at most. A call takes one off at once in this
// process, and within seconds in the others.
type remaining struct {
	known      *cache.Cache[string, *leftOver] // by account
	read       func(ctx context.Context, caller storage.Caller) (billing.Quota, error)
	watch      func(account string, calls *atomic.Int64)
	slots      chan struct{} // held by those who read
	background *background
}

// leftOver remembers the quota of one account.
type leftOver struct {
	made    time.Time
	first   chan struct{} // closed when it was read
	state   atomic.Pointer[leftAt]
	reading atomic.Bool
	asked   atomic.Int64 // when it was last read or tried to be, in Unix nanoseconds
	calls   atomic.Int64 // charged here while it is remembered
}

// leftAt holds a quota as it was read.
type leftAt struct {
	limit, left int64
	reset       time.Time
	calls       int64 // of leftOver.calls, those that are taken off already
}

func newRemaining(read func(context.Context, storage.Caller) (billing.Quota, error), watch func(string, *atomic.Int64),
	background *background) *remaining {
	return &remaining{known: cache.New[string, *leftOver](maxRemaining), read: read, watch: watch, background: background,
		slots: make(chan struct{}, maxReads)}
}

// watched returns the counter of an account that is remembered, for the ledger.
func (q *remaining) watched(account string) *atomic.Int64 {
	if l, ok := q.known.Get(account); ok {
		return &l.calls
	}
	return nil
}

// Quota returns how many calls the caller's account may make until reset, and how many of them
// are left: counters.Unlimited both, or as many as the last charge in this process has left. Calls
// that other processes have charged are taken off within seconds. It waits for the store only at
// the first call of an account, and only for an instant; ok is false if it is not known then. It
// is for a service that tells its callers with each answer.
func (g *Gateway) Quota(ctx context.Context, caller storage.Caller) (limit, left int64, reset time.Time, ok bool) {
	return g.remaining.of(ctx, caller, time.Now())
}

func (q *remaining) of(ctx context.Context, caller storage.Caller,
	now time.Time) (limit, left int64, reset time.Time, ok bool) {
	account := caller.Account()
	l, there := q.known.Get(account)
	if !there {
		fresh := &leftOver{made: now, first: make(chan struct{})}
		if l = q.known.GetOrPut(account, fresh); l == fresh {
			q.watch(account, &l.calls)
		}
	}
	s := l.state.Load()
	if s == nil || now.UnixNano()-l.asked.Load() >= int64(remainingFresh) || !now.Before(s.reset) {
		q.refresh(l, caller, now)
	}
	if s == nil {
		if wait := l.made.Add(firstRemaining).Sub(now); wait > 0 {
			s = l.wait(ctx, wait)
		}
	}
	if s == nil || !now.Before(s.reset) { // a period that is over says nothing of the next
		return 0, 0, time.Time{}, false
	}
	if s.limit == counters.Unlimited {
		return counters.Unlimited, counters.Unlimited, s.reset, true
	}
	return s.limit, max(0, s.left-(l.calls.Load()-s.calls)), s.reset, true
}

// changed forgets the quotas of applications that a process has changed.
func (q *remaining) changed(c storage.Change) {
	switch {
	case c.Kind != storage.ChangedApps:
	case c.IDs == nil:
		q.known.Clear()
	default:
		for _, id := range c.IDs {
			q.known.Delete(id)
		}
	}
}

func (l *leftOver) wait(ctx context.Context, at time.Duration) *leftAt {
	timer := time.NewTimer(at)
	defer timer.Stop()
	select {
	case <-l.first:
	case <-timer.C:
	case <-ctx.Done():
	}
	return l.state.Load()
}

// refresh reads in the background, one at a time, and after a failure not again at once.
func (q *remaining) refresh(l *leftOver, caller storage.Caller, now time.Time) {
	last := l.asked.Load()
	if now.UnixNano()-last < int64(time.Second) || !l.reading.CompareAndSwap(false, true) {
		return
	}
	select {
	case q.slots <- struct{}{}:
	default: // a store that slow is not asked by even more
		l.reading.Store(false)
		return
	}
	l.asked.Store(now.UnixNano())
	q.background.do(func(ctx context.Context) {
		defer func() { <-q.slots; l.reading.Store(false) }()
		s, err := q.readExact(ctx, l, caller)
		if err != nil {
			return
		}
		if l.state.Swap(s) == nil {
			close(l.first)
		}
	})
}

// readExact reads what is left. A call that is charged meanwhile may be in what was read or not:
// then it is read again, and if that goes on, such calls are taken off twice until the next reading,
// rather than not at all.
func (q *remaining) readExact(ctx context.Context, l *leftOver, caller storage.Caller) (*leftAt, error) {
	for try := 0; ; try++ {
		before := l.calls.Load()
		quota, err := q.read(ctx, caller)
		if err != nil {
			return nil, err
		}
		if try == 2 || l.calls.Load() == before {
			return &leftAt{quota.Plan.Calls, quota.Remaining, quota.ResetAt, before}, nil
		}
	}
}

// readQuota asks billing for the quota of a caller's account.
func (g *Gateway) readQuota(ctx context.Context, caller storage.Caller) (billing.Quota, error) {
	now := time.Now()
	account, err := g.accounts.of(ctx, caller.AppID, now)
	if err != nil {
		return billing.Quota{}, err
	}
	return g.billing.Quota(ctx, account.payer(caller), now)
}
