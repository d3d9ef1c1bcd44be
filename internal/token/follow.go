package token

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage"
)

// Follower holds the parameters of Follow. All are required.
type Follower struct {
	Every      time.Duration // between two reads
	StaleAfter time.Duration // the age of the last good read from which on nothing is accepted

	Hint <-chan struct{} // wakes a read before its time

	// Also reads what else is cached. Its failure is one of the read. After ErrRegressed it is called
	// again, for everything is read anew then.
	Also func(ctx context.Context) error

	// Forgot is called when the store has lost what was read from it before, and Turned when reads
	// begin to fail (with the error) and when they work again (with nil).
	Forgot, Turned func(error)
}

// hintPause is the least time between two reads, however many hints come.
const hintPause = 100 * time.Millisecond

// trust holds until when the set may be trusted, and why it was not renewed.
type trust struct {
	good  time.Time // when the last good read began
	until time.Time
	err   error // of the last read; nil if it was good
}

// Follow reads the feed now and at every interval until ctx ends: for stores that several
// nodes share. While it runs, and the last good read began longer than StaleAfter ago,
// Verify answers ErrStale to every token it would have accepted. Run it once, in a
// goroutine of the caller's; a read that hangs makes the set stale like one that fails.
//
// A store that has lost what was read from it, as a failover may do, makes the set stale until
// all of it has been read anew. No revocation that was ever known is dropped for that.
func (r *Revoked) Follow(ctx context.Context, c Follower) {
	tick := time.NewTicker(c.Every)
	defer tick.Stop()
	defer r.trust.Store(nil)
	r.trusted(c, nil)
	for failing := false; ; {
		began := time.Now()
		err := r.poll(ctx, c)
		if ctx.Err() != nil {
			return
		}
		r.trusted(c, err)
		if failed := err != nil; failed != failing {
			failing = failed
			c.Turned(err)
		}
		if err == nil {
			r.pay(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-c.Hint:
			if !pause(ctx, hintPause-time.Since(began)) {
				return
			}
		}
	}
}

// pause waits, and reports whether ctx goes on.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// poll reads what is new or, after the store has lost something, everything.
func (r *Revoked) poll(ctx context.Context, c Follower) error {
	err := r.once(ctx, c)
	if !errors.Is(err, storage.ErrRegressed) {
		return err
	}
	r.regressions.Add(1)
	r.behind = true
	r.trusted(c, err)
	c.Forgot(err)
	return r.once(ctx, c)
}

func (r *Revoked) once(ctx context.Context, c Follower) error {
	also, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := c.Also(also); err != nil {
		return err
	}
	if r.behind {
		return r.readAll(ctx)
	}
	return r.readNew(ctx)
}

func (r *Revoked) trusted(c Follower, err error) {
	t := &trust{good: r.good, until: r.good.Add(c.StaleAfter), err: err}
	if r.behind {
		t.until = time.Time{}
	}
	r.trust.Store(t)
}

// Stale says why the set must not be believed, if so: ErrStale.
func (r *Revoked) Stale(now time.Time) error {
	t := r.trust.Load()
	switch {
	case t == nil || !now.After(t.until):
		return nil
	case t.err != nil:
		return fmt.Errorf("%w: %w", ErrStale, t.err)
	default:
		return fmt.Errorf("%w: the last read has not ended", ErrStale)
	}
}

// Age returns the time since the last good read began, 0 while nobody follows the feed.
func (r *Revoked) Age(now time.Time) time.Duration {
	if t := r.trust.Load(); t != nil {
		return max(0, now.Sub(t.good))
	}
	return 0
}

// Regressions returns how often the store had lost what was read from it before.
func (r *Revoked) Regressions() uint64 { return r.regressions.Load() }
