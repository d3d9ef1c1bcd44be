package signin

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// Lock is when too many failures are too many. Zero values are the specification's (8).
type Lock struct {
	Failures int           // 0: 10
	Within   time.Duration // 0: 5 minutes
	For      time.Duration // 0: 15 minutes
}

// Guard counts failed attempts by address (IPv6 by /64) and locks one that has too many.
//
// Of one address at most Lock.Failures attempts are failed or in flight within the time,
// so guesses made in parallel are no more than guesses made in turn. It is in memory, runs
// no goroutine, and holds at most 100,000 addresses: beyond that unknown ones share one
// count, and none that is counted or locked is ever forgotten to make room.
type Guard struct {
	lock  Lock
	room  int
	start time.Time

	mu      sync.Mutex // never held while a password is checked
	known   map[netip.Addr]*tally
	rest    tally              // of the addresses there was no room for
	resting map[netip.Addr]int // those of them in flight: End must find what Begin counted
	swept   time.Duration
}

// tally is the count of one address. Times are since Guard.start, by the monotonic clock.
type tally struct {
	failed   []time.Duration
	inFlight int
	locked   time.Duration // until when
}

const (
	guardRoom  = 100_000
	sweepEvery = time.Minute
	busyWait   = 2 * time.Second // about how long an attempt is in flight when many are
)

// NewGuard makes a Guard.
func NewGuard(l Lock) *Guard {
	l = Lock{cmp.Or(l.Failures, 10), cmp.Or(l.Within, 5*time.Minute), cmp.Or(l.For, 15*time.Minute)}
	return &Guard{lock: l, room: guardRoom, start: time.Now(), known: map[netip.Addr]*tally{}, resting: map[netip.Addr]int{}}
}

// Begin asks to make an attempt. 0 is yes, and End must follow; else it is how long to
// wait, and the credentials must not be looked at.
func (g *Guard) Begin(ip netip.Addr) (wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, ip := time.Since(g.start), network(ip)
	t := g.tally(ip, now)
	switch g.forget(t, now); {
	case now < t.locked:
		return t.locked - now
	case len(t.failed)+t.inFlight >= g.lock.Failures:
		return busyWait
	}
	t.inFlight++
	if t == &g.rest {
		g.resting[ip]++
	}
	return 0
}

// End says how an attempt went that Begin let through.
func (g *Guard) End(ip netip.Addr, failed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, ip := time.Since(g.start), network(ip)
	t := g.tally(ip, now)
	t.inFlight--
	if t == &g.rest {
		if g.resting[ip]--; g.resting[ip] == 0 {
			delete(g.resting, ip)
		}
	}
	if failed {
		g.forget(t, now)
		t.failed = append(t.failed, now)
	}
	if len(t.failed) >= g.lock.Failures {
		t.locked, t.failed = now+g.lock.For, nil
	}
	if t != &g.rest && g.idle(t, now) {
		delete(g.known, ip)
	}
}

// tally finds the count of an address, or makes one. An address in flight in the shared
// count stays there until it is done.
func (g *Guard) tally(ip netip.Addr, now time.Duration) *tally {
	if g.resting[ip] > 0 {
		return &g.rest
	}
	if t, ok := g.known[ip]; ok {
		return t
	}
	g.sweep(now)
	if len(g.known) >= g.room {
		return &g.rest
	}
	t := &tally{}
	g.known[ip] = t
	return t
}

// sweep drops the addresses that count for nothing any more, at most once a minute: the
// walk is long when there are many.
func (g *Guard) sweep(now time.Duration) {
	if now-g.swept < sweepEvery {
		return
	}
	g.swept = now
	for ip, t := range g.known {
		if g.idle(t, now) {
			delete(g.known, ip)
		}
	}
}

func (g *Guard) idle(t *tally, now time.Duration) bool {
	g.forget(t, now)
	return len(t.failed) == 0 && t.inFlight == 0 && now >= t.locked
}

// forget drops the failures that are too long ago to count.
func (g *Guard) forget(t *tally, now time.Duration) {
	t.failed = slices.DeleteFunc(t.failed, func(at time.Duration) bool { return now-at >= g.lock.Within })
}

// network is what counts as one address: of IPv6 the /64, which one line usually has.
func network(ip netip.Addr) netip.Addr {
	if ip = ip.Unmap().WithZone(""); ip.Is6() {
		return netip.PrefixFrom(ip, 64).Masked().Addr()
	}
	return ip
}
