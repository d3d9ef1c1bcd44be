package countertest

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// locks is the lock of addresses of a place.
type locks struct {
	*place
	counters.Addresses
}

func (p *place) locks(c counters.Lock) locks { return locks{p, p.nodes.Addresses(c)} }

func (l locks) begin(ip netip.Addr) time.Duration       { return l.Begin(context.Background(), ip) }
func (l locks) end(ip netip.Addr, failed bool)          { l.End(context.Background(), ip, failed) }
func (l locks) clear(ip netip.Addr) (cleared bool)      { return l.Clear(context.Background(), ip) }
func (l locks) fail(ip netip.Addr, n int) (through int) { return l.attempt(ip, n, true) }

// attempt makes n attempts, and says how many were let through.
func (l locks) attempt(ip netip.Addr, n int, fail bool) (through int) {
	for range n {
		if l.begin(ip) == 0 {
			through++
			l.end(ip, fail)
		}
	}
	return through
}

// locking are the promises of the lock of addresses (decision 19).
func locking() []promise {
	return []promise{
		{"ten failures lock an address for fifteen minutes", clock, func(p *place) {
			l := p.locks(counters.Lock{})
			for i := range 10 {
				p.want(fmt.Sprint("attempt ", i+1), l.fail(address, 1), 1)
			}
			p.waits("the eleventh", l.begin(address), 15*time.Minute)
			p.wait(15*time.Minute - time.Second)
			p.waits("a second before the end", l.begin(address), time.Second)
			p.wait(time.Second + p.Grain)
			p.want("after the lock", l.fail(address, 25), 10)
			p.want("another address", l.fail(neighbor, 25), 10)
		}},
		{"an attempt while an address is locked does not extend the lock", clock, func(p *place) {
			l := p.locks(counters.Lock{})
			l.fail(address, 10)
			for i := range 14 {
				p.wait(time.Minute)
				p.waits("a locked attempt", l.begin(address), time.Duration(14-i)*time.Minute)
			}
			p.wait(time.Minute + p.Grain)
			p.want("after the lock", l.fail(address, 25), 10)
		}},
		{"failures count for five minutes, each for itself", clock, func(p *place) {
			l := p.locks(counters.Lock{})
			p.want("at first", l.fail(address, 5), 5)
			p.wait(4 * time.Minute)
			p.want("after four minutes", l.fail(address, 4), 4)
			p.wait(time.Minute + p.Grain) // the first five have left
			p.want("after five minutes", l.fail(address, 25), 6)
		}},
		{"just within five minutes the tenth failure locks", clock, func(p *place) {
			l := p.locks(counters.Lock{})
			l.fail(address, 9)
			p.wait(5*time.Minute - time.Millisecond)
			p.want("the tenth", l.fail(address, 25), 1)
			p.waits("the eleventh", l.begin(address), 15*time.Minute)
		}},
		{"nine failures in five minutes go on for ever", clock, func(p *place) {
			l := p.locks(counters.Lock{})
			for range 30 {
				p.want("of nine", l.fail(address, 9), 9)
				p.wait(5*time.Minute + p.Grain)
			}
		}},
		{"a success does not reset the count", nothing, func(p *place) {
			l := p.locks(counters.Lock{})
			p.want("failures", l.fail(address, 9), 9)
			p.want("successes", l.attempt(address, 40, false), 40)
			p.want("the tenth failure", l.fail(address, 5), 1)
			p.want("successes of a locked address", l.attempt(address, 5, false), 0)
		}},
		{"an attempt that cannot be right is nobody's failure", nothing, func(p *place) {
			l := p.locks(counters.Lock{})
			p.want("attempts that did not fail", l.attempt(address, 100, false), 100)
			p.want("failures then", l.fail(address, 25), 10)
		}},
		{"an IPv4 address is locked, and a /64 of IPv6", nothing, func(p *place) {
			for _, c := range sameClient {
				p.fresh()
				l := p.locks(counters.Lock{})
				p.want(c.what+", the first", l.fail(netip.MustParseAddr(c.a), 25), 10)
				if got := l.fail(netip.MustParseAddr(c.b), 1) == 0; got != c.same {
					p.Fatalf("%s: locked together = %v, want %v", c.what, got, c.same)
				}
			}
		}},
		{"a lock has the numbers that it is given", clock, func(p *place) {
			l := p.locks(counters.Lock{Failures: 2, Within: time.Hour, For: time.Minute})
			for range 3 {
				p.want("the first", l.fail(address, 1), 1)
				p.wait(time.Hour - time.Millisecond)
				p.want("of the others", l.fail(address, 5), 1)
				p.waits("while it is locked", l.begin(address), time.Minute)
				p.wait(time.Minute + p.Grain)
			}
			p.want("of two", l.fail(address, 1), 1)
			p.wait(time.Hour + p.Grain)
			p.want("an hour later", l.fail(address, 5), 2)
		}},
		{"after a lock failures before it count no more", clock, func(p *place) {
			l := p.locks(counters.Lock{Failures: 3, Within: time.Hour, For: time.Minute})
			p.want("at first", l.fail(address, 9), 3)
			p.wait(time.Minute + p.Grain)
			p.want("after the lock", l.fail(address, 9), 3)
		}},
		{"an operator ends a lock", clock, func(p *place) {
			l := p.locks(counters.Lock{})
			if l.clear(address) {
				p.Fatal("there was something to clear")
			}
			l.fail(address, 25)
			l.fail(neighbor, 25)
			if l.begin(address) == 0 || !l.clear(address) || l.clear(address) {
				p.Fatal("a lock is not cleared once")
			}
			p.want("after that", l.fail(address, 9), 9)
			p.want("another address", l.fail(neighbor, 9), 0)
			if !l.clear(address) || l.clear(address) {
				p.Fatal("nine failures are not cleared once")
			}
			p.want("after that", l.fail(address, 25), 10)
			p.wait(15*time.Minute + p.Grain)
			if l.clear(address) {
				p.Fatal("there was something to clear after the lock")
			}
			l.fail(netip.MustParseAddr("2001:db8::1"), 25)
			if !l.clear(netip.MustParseAddr("2001:db8::2")) || l.fail(netip.MustParseAddr("2001:db8::3"), 3) != 3 {
				p.Fatal("a /64 is not cleared")
			}
			p.wait(5*time.Minute + p.Grain)
			if l.clear(netip.MustParseAddr("2001:db8::3")) {
				p.Fatal("there was something to clear when the failures had left")
			}
		}},
	}
}

// inFlight are the promises about attempts that have not ended, of addresses.
func inFlight() []promise {
	return []promise{
		{"an attempt under way counts as failed", nothing, func(p *place) {
			l := p.locks(counters.Lock{})
			p.want("failures", l.fail(address, 4), 4)
			through := 0
			for range 30 {
				if l.begin(address) == 0 {
					through++
				}
			}
			p.want("beside 4 failures", through, 6)
			for range 6 {
				l.end(address, false)
			}
			p.want("when those have ended", l.attempt(address, 9, false), 9)
			p.want("failures beside 4", l.fail(address, 25), 6)
		}},
		{"attempts under way lock nobody before they fail", clock, func(p *place) {
			l := p.locks(counters.Lock{})
			for range 10 {
				if wait := l.begin(address); wait != 0 {
					p.Fatalf("one of ten waits %v", wait)
				}
			}
			if wait := l.begin(address); wait <= 0 || wait > time.Minute {
				p.Fatalf("beside ten under way: told to wait %v, want about as long as those take", wait)
			}
			for i := range 10 {
				if l.begin(address) == 0 {
					p.Fatalf("an eleventh is let through beside %d", 10-i)
				}
				l.end(address, true)
			}
			p.waits("when all ten have failed", l.begin(address), 15*time.Minute)
		}},
		{"failures leave while others are under way", clock, func(p *place) {
			l := p.locks(counters.Lock{})
			p.want("failures", l.fail(address, 9), 9)
			if p.wait(5*time.Minute - 20*time.Second); l.begin(address) != 0 {
				p.Fatal("the tenth waits")
			}
			if p.wait(10 * time.Second); l.begin(address) == 0 {
				p.Fatal("an eleventh is let through")
			}
			if p.wait(10*time.Second + p.Grain); l.clear(address) {
				p.Fatal("there is something to clear when all nine have left")
			}
			through := 0
			for range 20 {
				if l.begin(address) == 0 {
					through++
				}
			}
			p.want("beside the one under way", through, 9)
		}},
		{"to clear an address leaves those under way", nothing, func(p *place) {
			l := p.locks(counters.Lock{})
			l.fail(address, 5)
			for range 3 {
				l.begin(address)
			}
			if !l.clear(address) {
				p.Fatal("five failures are not cleared")
			}
			through := 0
			for range 30 {
				if l.begin(address) == 0 {
					through++
				}
			}
			p.want("beside three", through, 7)
			for range 10 {
				l.end(address, true)
			}
			p.want("when all ten have failed", l.fail(address, 1), 0)
		}},
		{"an attempt that its node never ends is forgotten", abandoned, func(p *place) {
			l := p.locks(counters.Lock{})
			for range 10 {
				l.begin(address)
			}
			if l.begin(address) == 0 {
				p.Fatal("an eleventh is let through")
			}
			p.wait(p.Abandoned + p.Grain)
			p.want("after that time", l.fail(address, 25), 10)
		}},
	}
}
