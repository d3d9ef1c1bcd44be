package token

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// cursor holds how far the feed has been read. It belongs to one goroutine at a time.
type cursor struct {
	last   driver.Revocation // the last one read that the store must still have; a Seq of 0: none
	good   time.Time         // when the last read that reached the end began
	behind bool              // the store has lost what was read from it, and has not been read anew since
	owed   []driver.Revocation
}

// callTimeout bounds one read of the store, so that one which hangs is followed by another.
const callTimeout = 30 * time.Second

// readNew brings the set up to the end of the feed. It begins with the last revocation that was read
// before and has not ended. A store that does not have it any more has lost what was written to
// it, and would give new revocations the numbers of lost ones: that is ErrRegressed.
func (r *Revoked) readNew(ctx context.Context) error {
	began := time.Now()
	now := r.feed.Reached(began)
	if over(r.last, now) {
		r.last = r.latest(now)
	}
	known, last, found := r.last, r.last, r.last.Seq == 0
	err := r.pages(ctx, max(known.Seq, 1)-1, func(page []driver.Revocation) bool {
		for _, n := range page {
			if n.Seq == known.Seq && !same(n, known) {
				return false
			}
			found = found || n.Kind == known.Kind && n.ID == known.ID // it moves when it is joined
			if !over(n, now) {
				last = n
			}
		}
		r.add(began, page)
		return true
	})
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%w: revocation %d was read, and is there no more", storage.ErrRegressed, known.Seq)
	}
	if n := r.unread(began, now); n > 0 {
		return fmt.Errorf("%w: %d revocations were stored, and are not there", storage.ErrRegressed, n)
	}
	r.last, r.good = last, began
	r.seen.Store(last.Seq)
	return nil
}

// acknowledged remembers revocations that the store has taken.
func (r *Revoked) acknowledged(at time.Time, rs []driver.Revocation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range rs {
		r.acked[fact{n.Kind, n.ID}] = at
	}
}

// unread returns how many of the revocations that the store had taken before a read are not in it:
// those still without a Seq. It forgets the others.
func (r *Revoked) unread(began, now time.Time) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, at := range r.acked {
		if !at.Before(began) {
			continue
		}
		delete(r.acked, name)
		if one, there := r.facts[name]; there && one.Seq == 0 && !over(one, now) {
			n++
		}
	}
	return n
}

// same reports whether a revocation is the one that had its Seq before.
func same(a, b driver.Revocation) bool {
	return a.Kind == b.Kind && a.ID == b.ID && a.Before.Equal(b.Before) && a.Until.Equal(b.Until)
}

// pages calls do with each page of the feed, until do returns false.
func (r *Revoked) pages(ctx context.Context, after uint64, do func(page []driver.Revocation) bool) error {
	for {
		page, err := r.page(ctx, after)
		if err != nil {
			return fmt.Errorf("token: read the revocations: %w", err)
		}
		for _, n := range page {
			if n.Seq <= after {
				return errors.New("token: the feed of revocations does not rise")
			}
			after = n.Seq
		}
		if !do(page) || len(page) < driver.Page {
			return nil
		}
	}
}

// StopsNow is Stops with what other processes have stored until now. It is for the rare decision that grants something
// without a write to the store, which would refuse it.
func (r *Revoked) StopsNow(ctx context.Context, c storage.Caller) (bool, error) {
	err := r.pages(ctx, r.seen.Load(), func(page []driver.Revocation) bool {
		r.add(time.Now(), page)
		return true
	})
	return r.Stops(c), err
}

func (r *Revoked) page(ctx context.Context, after uint64) ([]driver.Revocation, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return r.feed.Revocations(ctx, after, driver.Page)
}

// latest returns the last revocation read that has not ended.
func (r *Revoked) latest(now time.Time) (last driver.Revocation) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, n := range r.facts {
		if n.Seq > last.Seq && !over(n, now) {
			last = n
		}
	}
	return last
}

// readAll reads the whole feed anew, after the store has lost what it had. Revocations that were
// known before stay known here, and are owed to the store.
func (r *Revoked) readAll(ctx context.Context) error {
	began := time.Now()
	now := r.feed.Reached(began)
	stored, last := map[fact]driver.Revocation{}, driver.Revocation{}
	err := r.pages(ctx, 0, func(page []driver.Revocation) bool {
		for _, n := range page {
			stored[fact{n.Kind, n.ID}] = n
			if !over(n, now) {
				last = n
			}
		}
		r.add(began, page)
		return true
	})
	if err != nil {
		return err
	}
	r.last, r.good, r.behind, r.owed = last, began, false, r.missing(stored, now)
	r.seen.Store(last.Seq)
	return nil
}

// missing returns what is known here and more than what is stored.
func (r *Revoked) missing(stored map[fact]driver.Revocation, now time.Time) (all []driver.Revocation) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for name, n := range r.facts {
		if has, there := stored[name]; !over(n, now) && (!there || !same(n, has)) {
			all = append(all, n)
		}
	}
	return all
}

// payStep bounds the revocations that are stored in one call.
const payStep = 100

// pay stores the revocations that the store has lost, so that it refuses the tokens they cover too.
// After a failure it tries again at the next read.
func (r *Revoked) pay(ctx context.Context) {
	for len(r.owed) > 0 {
		n := min(payStep, len(r.owed))
		if err := r.feed.RestoreRevocations(ctx, r.owed[:n]...); err != nil {
			return
		}
		r.owed = r.owed[n:]
	}
}
