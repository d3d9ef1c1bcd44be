package token

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Feed reads and writes revocations; *storage.Store implements it.
type Feed interface {
	// returns them as they are stored
	RevokeDated(ctx context.Context, rs ...driver.Revocation) ([]driver.Revocation, error)
	// that the store has lost, as they were
	RestoreRevocations(ctx context.Context, rs ...driver.Revocation) error
	Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error)
	Reached(now time.Time) time.Time // what has surely come: no wrong clock ends a fact
}

// Revoked is the set of revocations this process knows: the one thing that ends an access
// token before its time. It goes by jti, grant, application and user, never by the text
// of a token, because an ES256 signature (r, s) has a twin (r, n-s).
type Revoked struct {
	feed  Feed
	trust atomic.Pointer[trust] // nil while nobody follows the feed

	cursor // of OpenRevoked, then of the one Follow

	regressions atomic.Uint64
	seen        atomic.Uint64 // the Seq that the feed has been read up to, at least
	state       atomic.Uint64 // rises after facts are added, before anybody is told that they were; never 0

	mu    sync.RWMutex // guards what follows
	facts map[fact]driver.Revocation
	acked map[fact]time.Time // stored by this process, and not yet read back; while the feed is followed
	ring  []fact             // all of facts, for the hand that forgets
	hand  int
}

type fact struct{ kind, id string }

// OpenRevoked reads the whole feed.
func OpenRevoked(ctx context.Context, feed Feed) (*Revoked, error) {
	r := &Revoked{feed: feed, facts: map[fact]driver.Revocation{}, acked: map[fact]time.Time{}}
	r.state.Store(1)
	if err := r.readNew(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// Revoke stores revocations. When it returns nil, this process refuses what they cover;
// other processes do when they next read the feed. When it returns an error, they may or
// may not be stored and must be asked for again.
func (r *Revoked) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	rs, err := r.feed.RevokeDated(ctx, rs...)
	if err != nil {
		return err
	}
	if r.trust.Load() != nil {
		r.acknowledged(time.Now(), rs)
	}
	r.add(time.Now(), rs)
	return nil
}

// Stops reports whether a revocation covers the token of a caller.
func (r *Revoked) Stops(c storage.Caller) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if len(r.facts) == 0 {
		return false
	}
	if _, ended := r.facts[fact{driver.RevokeGrant, c.Grant}]; ended {
		return true
	}
	if _, ended := r.facts[fact{driver.RevokeJTI, c.TokenID}]; ended {
		return true
	}
	for _, step := range c.Via {
		if _, ended := r.facts[fact{driver.RevokeJTI, step.TokenID}]; ended || r.ends(c, step.AppID) {
			return true
		}
	}
	return r.ends(c, c.AppID) ||
		c.UserID != "" && c.GrantedAt.Before(r.facts[fact{driver.RevokeUser, c.UserID}].Before)
}

// ends reports whether what an application was granted, or by this user, is revoked.
func (r *Revoked) ends(c storage.Caller, appID string) bool {
	if c.GrantedAt.Before(r.facts[fact{driver.RevokeApp, appID}].Before) {
		return true
	}
	if c.UserID == "" {
		return false
	}
	// ids are shorter, so that no verification allocates
	var buf [96]byte
	both := append(append(append(buf[:0], appID...), '='), c.UserID...) // driver.ConsentID
	return c.GrantedAt.Before(r.facts[fact{driver.RevokeConsent, string(both)}].Before)
}

// stopsAgain is Stops of a token that is asked about often. Facts only stop more and more tokens, so
// one that was not stopped is not as long as none is added.
func (r *Revoked) stopsAgain(t *passed) bool {
	state := r.state.Load() // before the facts: of what is added meanwhile the token is asked again
	if t.spared.Load() == state {
		return false
	}
	if r.Stops(t.caller) {
		return true
	}
	t.spared.Store(state)
	return false
}

func (r *Revoked) add(now time.Time, rs []driver.Revocation) {
	now = r.feed.Reached(now)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range rs {
		r.forget(now)
		name := fact{n.Kind, n.ID}
		old, there := r.facts[name]
		if there {
			n = n.Join(old)
			if n.Seq == 0 && same(n, old) { // it has been read back already
				n.Seq = old.Seq
			}
		}
		if over(n, now) {
			continue
		}
		if !there {
			r.ring = append(r.ring, name)
		}
		r.facts[name] = n
	}
	r.state.Add(1)
}

// forgetStep is the number of facts examined for each one added: more than two, so that
// the set shrinks as fast as it grew.
const forgetStep = 4

// forget drops facts that are over, a few at a time: a hand walks around the ring.
func (r *Revoked) forget(now time.Time) {
	for range forgetStep {
		if len(r.ring) == 0 {
			return
		}
		r.hand %= len(r.ring)
		name := r.ring[r.hand]
		if !over(r.facts[name], now) {
			r.hand++
			continue
		}
		delete(r.facts, name)
		last := len(r.ring) - 1
		r.ring[r.hand] = r.ring[last]
		r.ring = r.ring[:last]
	}
}

// over reports whether all that a revocation covers has expired. One without an end stays.
func over(n driver.Revocation, now time.Time) bool {
	return !n.Until.IsZero() && !now.Before(n.Until)
}
