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
	sweepEvery = time.Minute
	busyWait   = 2 * time.Second // about how long an attempt is in flight when many are
)

// Guard counts failed attempts by address (IPv6 by /64) and locks one that has too many.
//
// Of one address at most so many attempts are failed or in flight within the time, so guesses made in parallel are
// no more than guesses made in turn. It is in memory, runs no goroutine, and holds at most 100,000 addresses: a
// counted or locked one is never dropped for another. Beyond that, new ones are counted by their networks, of which
// a multiple may fail. A network can make its addresses wait, and is never locked.
type Guard struct {
	within, lasts  time.Duration
	keep, capacity int
	start          time.Time

	mu        sync.Mutex // never held while a password is checked
	known     map[netip.Prefix]*tally
	networks  *network.Counts                    // of the addresses beyond the capacity
	byNetwork map[netip.Prefix][]network.Receipt // those of them in flight: End must find what Begin counted
	swept     time.Duration
}

// tally is the count of one address. Times are since Guard.start, by the monotonic clock.
type tally struct {
	failed   []time.Duration
	inFlight int
	locked   time.Duration // until when
	heard    bool          // Lock has said so; it was not judged here
}

// NewGuard makes a Guard for addresses of which keep failures are too many at most. A failure counts for a time, and
// a lock lasts for another.
func NewGuard(keep int, within, lasts time.Duration) *Guard {
	return &Guard{
		keep: keep, within: within, lasts: lasts, capacity: capacity, start: time.Now(), known: map[netip.Prefix]*tally{},
		networks: network.NewCounts(within, capacity/4), byNetwork: map[netip.Prefix][]network.Receipt{},
	}
}

// Begin begins an attempt, unless most have failed or are in flight. If wait is 0 the caller must call End; else it
// must not check the credentials. An attempt that is through a server is not locked because of what Lock has said.
func (g *Guard) Begin(client netip.Prefix, most int, through bool) (wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Since(g.start)
	t := g.tally(client, now)
	if t == nil {
		return g.beginByNetwork(client, most)
	}
	g.forget(t, now)
	if through && t.heard {
		t.locked = 0
	}
	switch n := len(t.failed); {
	case now < t.locked:
		return t.locked - now
	case n >= most: // while nobody judged by them here
		return t.failed[n-most] + g.within - now
	case n+t.inFlight >= most:
		return busyWait
	}
	t.inFlight++
	return 0
}

// beginByNetwork counts an attempt of an address without a tally as failed, until it ends.
func (g *Guard) beginByNetwork(client netip.Prefix, most int) (wait time.Duration) {
	a := g.networks.Take(client, "", min(most, math.MaxInt32), time.Now())
	if !a.OK {
		return a.Reset
	}
	g.byNetwork[client] = append(g.byNetwork[client], a.Receipt)
	return 0
}

// End ends an attempt that Begin has let through. An address of which most have failed is locked.
func (g *Guard) End(client netip.Prefix, failed bool, most int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Since(g.start)
	if n := len(g.byNetwork[client]); n > 0 {
		g.endByNetwork(client, n-1, failed)
		return
	}
	t := g.known[client] // there is one as long as an attempt is in flight
	if t == nil {
		return
	}
	t.inFlight = max(0, t.inFlight-1)
	if failed {
		g.forget(t, now)
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

func (g *Guard) endByNetwork(client netip.Prefix, last int, failed bool) {
	receipts := g.byNetwork[client]
	if !failed {
		g.networks.Return(receipts[last])
	}
	if g.byNetwork[client] = receipts[:last]; last == 0 {
		delete(g.byNetwork, client)
	}
}

// tally finds the count of an address, or makes one; nil if it is counted by its network. An
// address that has an attempt in flight there stays until it is done.
func (g *Guard) tally(client netip.Prefix, now time.Duration) *tally {
	if len(g.byNetwork[client]) > 0 {
		return nil
	}
	if t, ok := g.known[client]; ok {
		return t
	}
	g.sweep(now)
	if len(g.known) >= g.capacity {
		return nil
	}
	t := &tally{}
	g.known[client] = t
	return t
}

// sweep drops the addresses that count for nothing any more, at most once a minute: the
// walk is long when there are many.
func (g *Guard) sweep(now time.Duration) {
	if now-g.swept < sweepEvery {
		return
	}
	g.swept = now
	for client, t := range g.known {
		if g.idle(t, now) {
			delete(g.known, client)
		}
	}
}

func (g *Guard) idle(t *tally, now time.Duration) bool {
	g.forget(t, now)
	return len(t.failed) == 0 && t.inFlight == 0 && now >= t.locked
}

// forget drops the failures that are too long ago to count.
func (g *Guard) forget(t *tally, now time.Duration) {
	t.failed = slices.DeleteFunc(t.failed, func(at time.Duration) bool { return now-at >= g.within })
}

// Lock notes that an address is locked elsewhere.
func (g *Guard) Lock(client netip.Prefix, lasts time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Since(g.start)
	if t := g.tally(client, now); t != nil {
		t.locked, t.heard = now+lasts, true
	}
}

// Clear ends the lockout of an address and forgets its failures. It reports whether there were any, and whether it
// was locked here and not by what Lock has said. Attempts in flight go on.
func (g *Guard) Clear(client netip.Prefix) (had, own bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Since(g.start)
	t := g.known[client]
	if t == nil {
		return false, false
	}
	if g.forget(t, now); len(t.failed) == 0 && now >= t.locked {
		return false, false
	}
	own = now < t.locked && !t.heard
	t.failed, t.locked = nil, 0
	return true, own
}
