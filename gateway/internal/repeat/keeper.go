package repeat

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/cache"
	"github.com/keystile/keystile/internal/record/idempotency"
	"github.com/keystile/keystile/storage"
)

// Life bounds the time for which a call is remembered, from its first attempt on.
const Life = 24 * time.Hour

const (
	maxCalls     = 50_000          // newly remembered of one account, see budget
	maxAll       = 500_000         // of all accounts, by one process
	maxAccounts  = 100_000         // whose budgets are kept
	stepLimit    = time.Second     // of one step of the store; then it is left alone for as long
	stillLimit   = time.Second     // that a call stands still, taken and not charged, until it is taken over
	patience     = 2 * time.Second // of one attempt
	firstPause   = 4 * time.Millisecond
	longestPause = 64 * time.Millisecond
)

// Store keeps the calls; *storage.Store does.
type Store interface {
	KeyedCall(ctx context.Context, id string) (idempotency.Call, error)
	SaveKeyedCalls(ctx context.Context, calls ...idempotency.Call) (version int64, err error)
}

// Keeper decides which attempts are charged. It is used by many goroutines at once. Make it with New.
type Keeper struct {
	store    Store
	free     int
	all      *budget
	accounts *cache.Cache[string, *budget]
	notes    *notes
	away     atomic.Int64 // until when the store is left alone, in Unix nanoseconds

	repeats, unknown atomic.Uint64
}

// New makes a Keeper that lets free attempts at a call pass after the one that is charged. Close ends
// it.
func New(store Store, free int) *Keeper {
	return &Keeper{
		store: store, free: free, all: newBudget(maxAll, time.Now()),
		accounts: cache.New[string, *budget](maxAccounts), notes: newNotes(store),
	}
}

// Stats returns how many attempts were not charged, and how many were charged because it could not be
// found out, or there was no room to remember it.
func (k *Keeper) Stats() (repeats, unknown uint64) { return k.repeats.Load(), k.unknown.Load() }

// Close stores what was charged last. Attempts must be over.
func (k *Keeper) Close(ctx context.Context) error { return k.notes.close(ctx) }

// Charge calls charge, unless the attempt is a repetition of a call that was charged: free is true then. It
// is charged too if that cannot be found out now. An error is that of charge, and the call then counts as
// not charged.
func (k *Keeper) Charge(c Call, at time.Time, charge func() error) (free bool, err error) {
	if at.UnixNano() < k.away.Load() {
		k.unknown.Add(1)
		return false, charge()
	}
	a := attempt{Keeper: k, id: c.id(), at: at, until: at.Add(patience)}
	mine, found := a.find(c.Account)
	switch found {
	case repeated:
		k.repeats.Add(1)
		return true, nil
	case unknown:
		k.unknown.Add(1)
	}
	if err := charge(); err != nil {
		return false, err // what was taken stands still, and is taken over by the next attempt
	}
	if found == taken {
		k.notes.add(mine)
	}
	return false, nil
}

// Findings of an attempt.
const (
	taken    = iota // it is the one that is to be charged, and the store knows
	repeated        // the call was charged
	spent           // there were too many repetitions: it is charged as any other call
	unknown         // it is charged, because nobody knows
)

// attempt is one attempt at a call, until it is decided.
type attempt struct {
	*Keeper
	id    string
	at    time.Time
	until time.Time
}

func (a *attempt) find(account string) (idempotency.Call, int) {
	mine := idempotency.Call{ID: a.id, ExpiresAt: a.at.Add(Life)}
	give, room := a.take(account)
	if !room {
		return a.meet(mine, false)
	}
	err := a.save(&mine)
	if err == nil {
		return mine, taken
	}
	give()
	if !errors.Is(err, storage.ErrExists) {
		return mine, a.trouble()
	}
	return a.meet(mine, true)
}

// meet decides about an attempt at a call that the store knows, perhaps.
func (a *attempt) meet(mine idempotency.Call, room bool) (idempotency.Call, int) {
	var seen idempotency.Call // the call that was taken and not yet charged
	var since time.Time
	pause := firstPause
	for now := a.at; now.Before(a.until); now = time.Now() {
		known, err := a.load()
		next := mine
		switch next.Version = known.Version; {
		case errors.Is(err, storage.ErrNotFound) && !room:
			return mine, unknown
		case errors.Is(err, storage.ErrNotFound): // swept meanwhile
		case err != nil:
			return mine, a.trouble()
		case !a.at.Before(known.ExpiresAt):
		case known.Charged && known.Repeats >= a.free:
			return mine, spent
		case known.Charged:
			next = known
			next.Repeats++
		case seen.Version != known.Version:
			seen, since = known, time.Now()
			fallthrough
		case time.Since(since) < stillLimit:
			time.Sleep(pause)
			pause = min(2*pause, longestPause)
			continue
		}
		if err = a.save(&next); err == nil && next.Charged {
			return next, repeated
		} else if err == nil {
			return next, taken
		} else if !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrExists) {
			return mine, a.trouble()
		}
	}
	return mine, unknown
}

// take takes a place for one more call of an account. give returns it.
func (a *attempt) take(account string) (give func(), ok bool) {
	own, there := a.accounts.Get(account)
	if !there {
		own = a.accounts.GetOrPut(account, newBudget(maxCalls, a.at))
	}
	if !own.take(a.at) {
		return nil, false
	}
	if !a.all.take(a.at) {
		own.giveBack()
		return nil, false
	}
	return func() { own.giveBack(); a.all.giveBack() }, true
}

// save writes a call and gives it its version.
func (a *attempt) save(c *idempotency.Call) error {
	ctx, cancel := context.WithTimeout(context.Background(), stepLimit)
	defer cancel()
	version, err := a.store.SaveKeyedCalls(ctx, *c)
	if err == nil {
		c.Version = version
	}
	return err
}

func (a *attempt) load() (idempotency.Call, error) {
	ctx, cancel := context.WithTimeout(context.Background(), stepLimit)
	defer cancel()
	return a.store.KeyedCall(ctx, a.id)
}

// trouble leaves the store alone for a while.
func (a *attempt) trouble() int {
	a.away.Store(time.Now().Add(stepLimit).UnixNano())
	return unknown
}
