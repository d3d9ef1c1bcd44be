package token

import (
	"context"
	"fmt"
	"time"
)

// trust holds until when the set may be trusted, and why it was not renewed.
type trust struct {
	until time.Time
	err   error // of the last read; nil if it was good
}

// Follow reads the feed now and at every interval until ctx ends: for stores that several
// nodes share. While it runs, and the last good read began longer than staleAfter ago,
// Verify answers ErrStale to every token it would have accepted. Run it once, in a
// goroutine of the caller's; a read that hangs makes the set stale like one that fails.
func (r *Revoked) Follow(ctx context.Context, every, staleAfter time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	defer r.trust.Store(nil)
	r.trusted(staleAfter, nil)
	for {
		err := r.read(ctx)
		if ctx.Err() != nil {
			return
		}
		r.trusted(staleAfter, err)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (r *Revoked) trusted(staleAfter time.Duration, err error) {
	r.trust.Store(&trust{until: r.good.Add(staleAfter), err: err})
}

// stale says why the set must not be believed, if so.
func (r *Revoked) stale(now time.Time) error {
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
