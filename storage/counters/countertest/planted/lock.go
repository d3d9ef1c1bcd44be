package planted

import (
	"cmp"
	"context"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/counters/countertest"
)

// guard is the lock of addresses as one would write it down, but for what is wrong with it.
type guard struct {
	mu    sync.Mutex
	clock countertest.Clock
	lock  counters.Lock
	all   map[string]*tally
	flaws
}

// tally is the count of one address.
type tally struct {
	failed   []time.Time
	inFlight int
	locked   time.Time
}

// flaws name what may be wrong with a guard.
type flaws struct {
	failures, unseen     int // more than the limit; attempts in flight that are not seen
	extends, resets      bool
	successFails         bool
	leaksRight, leaksBad bool
	keepsFailed          bool
	within               func(t *tally, now time.Time, within time.Duration)
	lasts                time.Duration
	key                  func(ip netip.Addr) string
	fixed                counters.Lock
	waits                func(t *tally, now time.Time) time.Duration
	clear                func(g *guard, ip netip.Addr) bool
	gap                  bool
}

// guarding puts a guard in the place of the right one.
func guarding(f flaws) plant {
	return func(clock countertest.Clock) func(*parts) {
		var mu sync.Mutex
		made := map[counters.Lock]*guard{}
		return func(p *parts) {
			p.locks = func(c counters.Lock) *locks {
				if f.fixed != (counters.Lock{}) {
					c = f.fixed
				}
				c = counters.Lock{Failures: cmp.Or(c.Failures, 10), Within: cmp.Or(c.Within, 5*time.Minute),
					For: cmp.Or(c.For, 15*time.Minute)}
				mu.Lock()
				defer mu.Unlock()
				if made[c] == nil {
					made[c] = &guard{clock: clock, lock: c, all: map[string]*tally{}, flaws: f}
				}
				return &locks{made[c].begin, made[c].end, made[c].cleared}
			}
		}
	}
}

func (g *guard) now() time.Time {
	if g.clock == nil {
		return time.Now()
	}
	return g.clock.Now()
}

func (g *guard) of(ip netip.Addr) *tally {
	key := ladder(ip)[0].key
	if g.key != nil {
		key = g.key(ip)
	}
	if g.all[key] == nil {
		g.all[key] = &tally{}
	}
	return g.all[key]
}

func (g *guard) forget(t *tally, now time.Time) {
	if g.within != nil {
		g.within(t, now, g.lock.Within)
		return
	}
	t.failed = slices.DeleteFunc(t.failed, func(at time.Time) bool { return now.Sub(at) >= g.lock.Within })
}

func (g *guard) begin(_ context.Context, ip netip.Addr) time.Duration {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, t := g.now(), g.of(ip)
	g.forget(t, now)
	limit := g.lock.Failures + g.failures
	switch {
	case now.Before(t.locked):
		wait := t.locked.Sub(now)
		if g.extends {
			t.locked = now.Add(g.lock.For)
		}
		if g.waits != nil {
			wait = g.waits(t, now)
		}
		return wait
	case len(t.failed)+max(0, t.inFlight-g.unseen) >= limit:
		return time.Second
	}
	if g.gap {
		g.mu.Unlock()
		for range 5 {
			runtime.Gosched()
		}
		g.mu.Lock()
	}
	t.inFlight++
	return 0
}

func (g *guard) end(_ context.Context, ip netip.Addr, failed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, t := g.now(), g.of(ip)
	if !(failed && g.leaksBad || !failed && g.leaksRight) {
		t.inFlight = max(0, t.inFlight-1)
	}
	g.forget(t, now)
	if failed || g.successFails {
		t.failed = append(t.failed, now)
	} else if g.resets {
		t.failed = nil
	}
	if len(t.failed) >= g.lock.Failures+g.failures {
		t.locked = now.Add(cmp.Or(g.lasts, g.lock.For))
		if !g.keepsFailed {
			t.failed = nil
		}
	}
}

func (g *guard) cleared(_ context.Context, ip netip.Addr) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.clear != nil {
		return g.clear(g, ip)
	}
	return g.clean(ip)
}

// clean clears an address as it should be cleared.
func (g *guard) clean(ip netip.Addr) bool {
	now, t := g.now(), g.of(ip)
	g.forget(t, now)
	if len(t.failed) == 0 && !now.Before(t.locked) {
		return false
	}
	t.failed, t.locked = nil, time.Time{}
	return true
}

// lockBugs lock addresses in another way.
func lockBugs() []bug {
	const ten, flight, five = "locks/ten failures", "in flight/an attempt under way", "locks/failures count for five"
	return []bug{
		{"the eleventh failure locks", ten, guarding(flaws{failures: 1})},
		{"the ninth failure locks", ten, guarding(flaws{failures: -1})},
		{"a lock ends after five minutes", ten, guarding(flaws{lasts: 5 * time.Minute})},
		{"a lock ends after an hour", ten, guarding(flaws{lasts: time.Hour})},
		{"a locked attempt is told the whole time", ten,
			guarding(flaws{waits: func(*tally, time.Time) time.Duration { return 15 * time.Minute }})},
		{"a locked attempt is told a second", ten,
			guarding(flaws{waits: func(*tally, time.Time) time.Duration { return time.Second }})},
		{"an attempt extends the lock", "locks/an attempt while an address is locked", guarding(flaws{extends: true})},
		{"a success resets the count", "locks/a success does not reset", guarding(flaws{resets: true})},
		{"whatever ends counts as failed", "locks/an attempt that cannot be right", guarding(flaws{successFails: true})},
		{"failures leave five minutes after the first of them", "locks/failures count for five",
			guarding(flaws{within: func(t *tally, now time.Time, within time.Duration) {
				if len(t.failed) > 0 && now.Sub(t.failed[0]) >= within {
					t.failed = nil
				}
			}})},
		{"failures stay until five minutes pass without one", five,
			guarding(flaws{within: func(t *tally, now time.Time, within time.Duration) {
				if n := len(t.failed); n > 0 && now.Sub(t.failed[n-1]) >= within {
					t.failed = nil
				}
			}})},
		{"failures never leave", "locks/nine failures in five minutes",
			guarding(flaws{within: func(*tally, time.Time, time.Duration) {}})},
		{"failures leave after four minutes", "locks/just within five minutes",
			guarding(flaws{within: func(t *tally, now time.Time, within time.Duration) {
				t.failed = slices.DeleteFunc(t.failed, func(at time.Time) bool { return now.Sub(at) >= within-time.Minute })
			}})},
		{"attempts under way do not count", flight, guarding(flaws{unseen: 1000})},
		{"one attempt under way is not seen", flight, guarding(flaws{unseen: 1})},
		{"a right attempt stays under way", "many callers/of many successes", guarding(flaws{leaksRight: true})},
		{"a wrong attempt stays under way", "locks/ten failures", guarding(flaws{leaksBad: true})},
		{"failures before a lock count after it", "locks/after a lock", guarding(flaws{keepsFailed: true})},
		{"every lock has the numbers of the protocol", "locks/a lock has the numbers",
			guarding(flaws{fixed: counters.Lock{Failures: 10}})},
		{"an address of IPv6 is locked alone", "locks/an IPv4 address is locked",
			guarding(flaws{key: func(ip netip.Addr) string { return ip.Unmap().WithZone("").String() }})},
		{"an address of IPv4 in IPv6 is locked by its /64", "locks/an IPv4 address is locked",
			guarding(flaws{key: func(ip netip.Addr) string {
				if ip.WithZone("").Is4In6() {
					return prefix(netip.AddrFrom16(ip.As16()), 64)
				}
				return ladder(ip)[0].key
			}})},
		{"a /48 is locked", "locks/an IPv4 address is locked", guarding(flaws{key: func(ip netip.Addr) string {
			all := ladder(ip)
			return all[len(all)-1].key
		}})},
		{"each node locks alone", ten, func(countertest.Clock) func(*parts) {
			return func(p *parts) {
				own := apart(counters.New())
				p.locks = own.locks
			}
		}},
	}
}

// clearBugs clear something else.
func clearBugs() []bug {
	const operator = "locks/an operator ends a lock"
	clears := func(do func(g *guard, ip netip.Addr) bool) plant { return guarding(flaws{clear: do}) }
	return []bug{
		{"to clear ends the lock and keeps the failures", operator,
			guarding(flaws{keepsFailed: true, clear: func(g *guard, ip netip.Addr) bool {
				t := g.of(ip)
				was := g.now().Before(t.locked)
				t.locked = time.Time{}
				return was
			}})},
		{"to clear forgets failures and keeps the lock", operator, clears(func(g *guard, ip netip.Addr) bool {
			t := g.of(ip)
			t.failed = nil
			return g.now().Before(t.locked)
		})},
		{"to clear is always a success", operator, clears(func(g *guard, ip netip.Addr) bool { g.clean(ip); return true })},
		{"to clear is never a success", operator, clears(func(g *guard, ip netip.Addr) bool { g.clean(ip); return false })},
		{"to clear is a success where failures have left", operator, clears(func(g *guard, ip netip.Addr) bool {
			t := g.of(ip)
			was := len(t.failed) > 0 || g.now().Before(t.locked)
			t.failed, t.locked = nil, time.Time{}
			return was
		})},
		{"to clear one address clears all", operator, clears(func(g *guard, ip netip.Addr) bool {
			was := g.clean(ip)
			clear(g.all)
			return was
		})},
		{"to clear forgets who is under way", "in flight/to clear an address", clears(func(g *guard, ip netip.Addr) bool {
			was := g.clean(ip)
			g.of(ip).inFlight = 0
			return was
		})},
	}
}
