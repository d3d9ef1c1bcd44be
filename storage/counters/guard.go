package counters

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/network"
)

// guard counts failed attempts by address (IPv6 by /64) and locks one that has too many.
//
// Of one address at most Lock.Failures attempts are failed or in flight within the time,
// so guesses made in parallel are no more than guesses made in turn. It is in memory, runs
// no goroutine, and holds at most 100,000 addresses: a counted or locked one is never dropped for
// another. Beyond that, new ones are counted by their networks, of which a multiple may fail. A
// network can make its addresses wait, and is never locked.
type guard struct {
	lock     Lock
	capacity int
	start    time.Time

	mu        sync.Mutex // never held while a password is checked
	known     map[netip.Prefix]*tally
	networks  *network.Counts                    // of the addresses beyond the capacity
	byNetwork map[netip.Prefix][]network.Receipt // those of them in flight: End must find what Begin counted
	swept     time.Duration
}

// tally is the count of one address. Times are since guard.start, by the monotonic clock.
type tally struct {
	failed   []time.Duration
	inFlight int
	locked   time.Duration // until when
}

const (
	maxAddresses = 100_000
	sweepEvery   = time.Minute
	busyWait     = 2 * time.Second // about how long an attempt is in flight when many are
)

// newGuard makes a guard. Zero values of the Config are the protocol's (8).
func newGuard(l Lock) *guard {
	l = Lock{cmp.Or(l.Failures, 10), cmp.Or(l.Within, 5*time.Minute), cmp.Or(l.For, 15*time.Minute)}
	return &guard{
		lock: l, capacity: maxAddresses, start: time.Now(), known: map[netip.Prefix]*tally{},
		networks: network.NewCounts(l.Within, maxAddresses/4), byNetwork: map[netip.Prefix][]network.Receipt{},
	}
}

// Begin begins an attempt. If wait is 0 the caller must call End; else it must not check the
// credentials.
func (g *guard) Begin(ip netip.Addr) (wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, client := time.Since(g.start), network.Of(ip)
	t := g.tally(client, now)
	if t == nil {
		return g.beginByNetwork(client)
	}
	switch g.forget(t, now); {
	case now < t.locked:
		return t.locked - now
	case len(t.failed)+t.inFlight >= g.lock.Failures:
		return busyWait
	}
	t.inFlight++
	return 0
}

// beginByNetwork counts an attempt of an address without a tally as failed, until it ends.
func (g *guard) beginByNetwork(client netip.Prefix) (wait time.Duration) {
	a := g.networks.Take(client, "", g.lock.Failures, time.Now())
	if !a.OK {
		return a.Reset
	}
	g.byNetwork[client] = append(g.byNetwork[client], a.Receipt)
	return 0
}

// End ends an attempt that Begin has let through.
func (g *guard) End(ip netip.Addr, failed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, client := time.Since(g.start), network.Of(ip)
	if n := len(g.byNetwork[client]); n > 0 {
		g.endByNetwork(client, n-1, failed)
		return
	}
	t := g.known[client] // there is one as long as an attempt is in flight
	if t == nil {
		return
	}
	t.inFlight--
	if failed {
		g.forget(t, now)
		t.failed = append(t.failed, now)
	}
	if len(t.failed) >= g.lock.Failures {
		t.locked, t.failed = now+g.lock.For, nil
	}
	if g.idle(t, now) {
		delete(g.known, client)
	}
}

func (g *guard) endByNetwork(client netip.Prefix, last int, failed bool) {
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
func (g *guard) tally(client netip.Prefix, now time.Duration) *tally {
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
func (g *guard) sweep(now time.Duration) {
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

func (g *guard) idle(t *tally, now time.Duration) bool {
	g.forget(t, now)
	return len(t.failed) == 0 && t.inFlight == 0 && now >= t.locked
}

// forget drops the failures that are too long ago to count.
func (g *guard) forget(t *tally, now time.Duration) {
	t.failed = slices.DeleteFunc(t.failed, func(at time.Duration) bool { return now-at >= g.lock.Within })
}

// Clear ends the lockout of an address (IPv6: of its /64) and forgets its failures. It reports
// whether there were any. Attempts in flight go on.
func (g *guard) Clear(ip netip.Addr) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Since(g.start)
	t := g.known[network.Of(ip)]
	if t == nil {
		return false
	}
	if g.forget(t, now); len(t.failed) == 0 && now >= t.locked {
		return false
	}
	t.failed, t.locked = nil, 0
	return true
}
