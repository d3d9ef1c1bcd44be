package local

import (
	"math"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/network"
)

// NoLimit has an attempt counted and never refused.
const NoLimit = math.MaxInt

const (
	busyWait   = 2 * time.Second
	sweepEvery = time.Minute
)

// Guard counts failed attempts by address. Failures count for a time, and a lock lasts for another.
type Guard struct {
	within, lasts time.Duration
	keep          int // failures of an address that are remembered
	start         time.Time

	mu       sync.Mutex
	known    map[netip.Prefix]*tally
	networks *network.Counts
	swept    time.Duration
}

// tally is the count of one address. Times are since Guard.start.
type tally struct {
	failed []time.Duration
	flying int
	locked time.Duration // until when
	heard  bool          // that is what the server said, and not what was judged here
}

// NewGuard makes a Guard, for an address of which keep failures are too many at most.
func NewGuard(keep int, within, lasts time.Duration) *Guard {
	return &Guard{
		within: within, lasts: lasts, keep: keep, start: time.Now(),
		known: map[netip.Prefix]*tally{}, networks: network.NewCounts(within, capacity/4),
	}
}

// Attempt is one that Begin has let through.
type Attempt struct{ byNetwork network.Receipt }

// Begin begins an attempt, unless most have failed or are in flight. If the server has let it through, the address
// is no longer locked there, and so not here because of that.
func (g *Guard) Begin(client netip.Prefix, most int, through bool) (wait time.Duration, a Attempt) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Since(g.start)
	t := g.of(client, now)
	if t == nil {
		n := g.networks.Take(client, "", min(most, math.MaxInt32), time.Now())
		if !n.OK {
			return n.Reset, Attempt{}
		}
		return 0, Attempt{n.Receipt}
	}
	g.forget(t, now)
	if through && t.heard {
		t.locked = 0
	}
	switch n := len(t.failed); {
	case now < t.locked:
		return t.locked - now, Attempt{}
	case n >= most:
		return t.failed[n-most] + g.within - now, Attempt{}
	case n+t.flying >= most:
		return busyWait, Attempt{}
	}
	t.flying++
	return 0, Attempt{}
}

// End ends an attempt. An address of which most have failed is locked.
func (g *Guard) End(client netip.Prefix, a Attempt, failed bool, most int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if a != (Attempt{}) {
		if !failed {
			g.networks.Return(a.byNetwork)
		}
		return
	}
	now, t := time.Since(g.start), g.known[client]
	if t == nil {
		return
	}
	t.flying = max(0, t.flying-1)
	g.forget(t, now)
	if failed {
		t.failed = append(t.failed, now)
		t.failed = t.failed[max(0, len(t.failed)-g.keep):]
		if len(t.failed) >= most {
			t.locked, t.heard, t.failed = now+g.lasts, false, nil
		}
	}
	if g.idle(t, now) {
		delete(g.known, client)
	}
}

// Lock notes that an address is locked elsewhere.
func (g *Guard) Lock(client netip.Prefix, lasts time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Since(g.start)
	if t := g.of(client, now); t != nil {
		t.locked, t.heard = now+lasts, true
	}
}

// Clear forgets the failures of an address, and that it is locked. It reports whether there was any of that, and
// whether a lock was there that the server does not know of.
func (g *Guard) Clear(client netip.Prefix) (any, own bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t, now := g.known[client], time.Since(g.start)
	if t == nil || len(t.failed) == 0 && now >= t.locked {
		return false, false
	}
	own = now < t.locked && !t.heard
	t.failed, t.locked = nil, 0
	return true, own
}

// of finds or makes the count of an address; nil if there are too many.
func (g *Guard) of(client netip.Prefix, now time.Duration) *tally {
	if t, ok := g.known[client]; ok {
		return t
	}
	if now-g.swept >= sweepEvery {
		g.swept = now
		for c, t := range g.known {
			if g.idle(t, now) {
				delete(g.known, c)
			}
		}
	}
	if len(g.known) >= capacity {
		return nil
	}
	t := &tally{}
	g.known[client] = t
	return t
}

func (g *Guard) idle(t *tally, now time.Duration) bool {
	g.forget(t, now)
	return len(t.failed) == 0 && t.flying == 0 && now >= t.locked
}

func (g *Guard) forget(t *tally, now time.Duration) {
	t.failed = slices.DeleteFunc(t.failed, func(at time.Duration) bool { return now-at >= g.within })
}
