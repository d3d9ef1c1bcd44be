package countertest

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/storage/counters"
)

// bot is the i-th IPv4 address of an attacker. Requests of IPv6 fill no table of addresses: the networks
// around them are refused before.
func bot(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
}

// flooder is the i-th address of an attacker: bots, and /64s of one /44 or, where there are many, of what is
// beside it.
func flooder(i int) netip.Addr {
	if i%11 == 0 {
		return bot(i / 11)
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], 0x2a0d_beef_0000_0000+uint64(i))
	return netip.AddrFrom16(b)
}

// visitor is one of 200 who have nothing to do with the attacker nor with each other.
func visitor(i int) netip.Addr {
	if i%2 == 0 {
		return netip.AddrFrom4([4]byte{198, byte(i), 100, 7})
	}
	return netip.AddrFrom16([16]byte{0x2a, 0x02, 0x81, byte(i), 1, 2, 3, 4, 5})
}

// stranger is one of many in an IPv4 /24, or in a /56, of which nobody was seen before.
func stranger(i int, six bool) netip.Addr {
	if !six {
		return netip.AddrFrom4([4]byte{203, 0, 113, byte(i)})
	}
	return netip.AddrFrom16([16]byte{0x2a, 0x07, 0x77, 7, 7, 7, 0, byte(i), 1})
}

// flood fills the tables: n callers share the work.
func (p *place) flood(do func(i int)) {
	const callers = 16
	var group sync.WaitGroup
	for c := range callers {
		group.Go(func() {
			for i := c; i < p.Full+p.Full/10; i += callers {
				do(i)
			}
		})
	}
	group.Wait()
}

// shared ends the test unless strangers of one network are let through as one of the networks around them
// may be: at least as one client, at most 64 times as much.
func (p *place) shared(what string, one int, do func(from netip.Addr) bool) {
	p.Helper()
	for _, six := range []bool{false, true} {
		n, most := 0, 16*one
		if six {
			most *= 4
		}
		for i := range 200 {
			for range one + 1 {
				if do(stranger(i, six)) {
					n++
				}
			}
		}
		if n < one || n > most {
			p.Fatalf("%s of 200 strangers of one network, IPv6 %v: %d are let through, want %d to %d", what, six, n, one, most)
		}
	}
}

// floods are the promises about more addresses and accounts than tables hold (decision 56).
func floods(long bool) []promise {
	full := full
	if long {
		full = anyFull
	}
	return []promise{
		{"a flood of addresses displaces no application", full, func(p *place) {
			for i := range 50 {
				p.want("before", p.allowed(fmt.Sprint("app", i), 20, 10), 10)
			}
			p.flood(func(i int) { p.hold(bot(i), 60) })
			for i := range 50 {
				p.want("what is left of 20", p.allowed(fmt.Sprint("app", i), 20, 30), 10)
				p.want("of a new application", p.allowed(fmt.Sprint("new", i), 20, 30), 20)
			}
		}},
		{"a flood of addresses refuses nobody else", full, func(p *place) {
			p.flood(func(i int) { p.hold(bot(i), 60) })
			for i := range 200 {
				p.want(fmt.Sprint("a visitor, ", visitor(i)), p.held(visitor(i), 10, 10), 10)
			}
		}},
		{"an address that is counted stays so through a flood", full, func(p *place) {
			for i := range 200 {
				p.want("before", p.held(visitor(i), 10, 20), 10)
			}
			p.flood(func(i int) { p.hold(bot(i), 60) })
			for i := range 200 {
				p.want(fmt.Sprint("after it, ", visitor(i)), p.held(visitor(i), 10, 5), 0)
			}
		}},
		{"beyond the table strangers share what their network may do", full, func(p *place) {
			p.flood(func(i int) { p.hold(bot(i), 60) })
			p.shared("requests", 10, func(from netip.Addr) bool { v, _ := p.hold(from, 10); return v.OK })
			p.want("a visitor from elsewhere", p.held(visitor(1), 10, 10), 10)
			p.wait(window + window/8 + p.Grain + time.Millisecond)
			p.want("a stranger when the flood has left", p.held(stranger(1, false), 10, 10), 10)
		}},
		{"addresses that fail keep nobody else from signing in", full, func(p *place) {
			l := p.locks(counters.Lock{})
			p.want("one that was locked before", l.fail(visitor(2), 25), 10)
			p.want("one with nine failures before", l.fail(visitor(4), 9), 9)
			p.flood(func(i int) { l.fail(flooder(i), 1) })
			for i := 10; i < 200; i++ {
				p.want(fmt.Sprint("a visitor, ", visitor(i)), l.fail(visitor(i), 10), 10)
			}
			p.want("one that is locked", l.fail(visitor(2), 1), 0)
			p.want("one with nine failures", l.fail(visitor(4), 5), 1)
		}},
		{"beyond the table a network makes strangers wait, and is never locked", full, func(p *place) {
			l := p.locks(counters.Lock{For: 24 * time.Hour})
			for range 2 {
				p.flood(func(i int) { l.fail(flooder(i), 1) })
				p.shared("failures", 10, func(from netip.Addr) bool { return l.fail(from, 1) == 1 })
				wait := l.begin(stranger(199, false))
				if wait <= 0 || wait > 5*time.Minute*9/8+p.Grain+time.Millisecond {
					p.Fatalf("a stranger of a network that fails is told to wait %v", wait)
				}
				p.wait(wait)
				if wait := l.begin(stranger(199, false)); wait != 0 {
					p.Fatalf("after that wait it waits %v", wait)
				}
				l.end(stranger(199, false), false)
				p.wait(6 * time.Minute)
			}
		}},
		{"a flood of accounts delays no other, and is forgotten before one that is guessed at", full, func(p *place) {
			d := p.delays()
			for i := range 20 {
				p.want("before", d.fail(account(i), 25), 10)
			}
			p.flood(func(i int) {
				var key [32]byte
				binary.BigEndian.PutUint64(key[8:], uint64(i))
				d.fail(key, 1)
			})
			for i := range 20 {
				if d.begin(account(i)) == 0 {
					p.Fatal("an account that was guessed at ten times is forgotten")
				}
				p.want("of another", d.fail(account(1000+i), 25), 10)
			}
		}},
		{"a flood of counted clients takes nothing from others", full, func(p *place) {
			c := p.counts()
			p.want("before", c.added("mails", network.Of(visitor(2)), 5, window, 9), 5)
			p.flood(func(i int) { c.one("mails", network.Of(flooder(i)), 5, window) })
			for i := 10; i < 200; i++ {
				p.want(fmt.Sprint("a visitor, ", visitor(i)), c.added("mails", network.Of(visitor(i)), 5, window, 5), 5)
			}
			p.want("one that was counted", c.added("mails", network.Of(visitor(2)), 5, window, 5), 0)
			p.shared("events", 5, func(from netip.Addr) bool { return c.one("mails", network.Of(from), 5, window) == 0 })
		}},
	}
}
