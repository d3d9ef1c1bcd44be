package clock

import (
	"context"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Later returns the date of a grant that is made now. It is now, or the highest time that the store has seen where that
// is later: then a grant that is made behind a revocation is not covered by it, even where the clock was
// ahead in between. Where the store has a clock of its own, it is by that one, whatever now says: a time that this
// clock has certainly reached, so that every revocation that begins later covers the grant.
func (c *Clock) Later(now time.Time) time.Time {
	now = c.tell(now)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.see(now.Round(0).UTC())
	return c.highest
}

// see takes a time into account that has come.
func (c *Clock) see(at time.Time) {
	if at.After(c.highest) {
		c.highest = at
	}
}

// Heard takes the revocations of all nodes into account, so that what is granted here afterwards is not covered by
// them. A revocation of the future is left aside: its maker wanted it to cover what is granted until then.
func Heard(c *Clock, rs []driver.Revocation) {
	if c.store.source == nil {
		return
	}
	_, latest := c.store.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range rs {
		if !r.Before.After(latest) {
			c.see(r.Before)
		}
	}
}

// Dated dates revocations that are made now, as Revoke does. One that ends what was granted before it, and says no
// time, gets that of now. Where the clock is behind the highest time seen, each ends all that was granted, and lasts
// that much longer; otherwise one that says a time stays as it is.
func (c *Clock) Dated(rs ...driver.Revocation) []driver.Revocation {
	if c.store.source == nil {
		return c.date(rs, time.Now().Round(0).UTC(), 0)
	}
	_, latest := c.store.now()
	return c.date(rs, latest, latest.Sub(c.store.read().Wall))
}

// Revoke has store keep revocations as they are dated now: where the store has a clock of its own it is asked what time
// it is, and Revoke returns once no node dates a grant by a time before that.
func Revoke(ctx context.Context, c *Clock, rs []driver.Revocation, store func(dated []driver.Revocation) error) error {
	if c.store.source == nil || !slices.ContainsFunc(rs, byTime) {
		return store(c.Dated(rs...))
	}
	now, err := c.store.ask(ctx)
	if err != nil {
		return err
	}
	answered := c.store.read()
	defer c.store.settle(ctx, answered.Ran)
	return store(c.date(rs, now, now.Sub(answered.Wall)))
}

// byTime reports whether a revocation ends what was granted before a time.
func byTime(r driver.Revocation) bool {
	return r.Kind != driver.RevokeGrant && r.Kind != driver.RevokeJTI
}

// date dates revocations at a time by the store's clock, which is that far ahead of the clock that
// their own times are by.
func (c *Clock) date(rs []driver.Revocation, now time.Time, ahead time.Duration) []driver.Revocation {
	c.mu.Lock()
	defer c.mu.Unlock()
	behind := c.highest.Sub(now)
	dated := make([]driver.Revocation, len(rs))
	for i, r := range rs {
		if r.Kind != driver.RevokeJTI && !r.Until.IsZero() {
			r.Until = r.Until.Add(max(ahead, 0) + max(behind, 0))
		}
		switch {
		case !byTime(r):
		case r.Before.IsZero():
			c.see(now)
			r.Before = c.next()
		default:
			if r.Before = r.Before.Add(ahead); behind > 0 && r.Before.Before(c.highest) {
				r.Before = c.next()
			}
		}
		dated[i] = r
	}
	return dated
}

// next returns a time that is after everything that was granted, and not after what will be.
func (c *Clock) next() time.Time {
	c.highest = c.highest.Add(1)
	return c.highest
}
