package countertest

import (
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// sameClient are addresses, and whether they are one client's.
var sameClient = []struct {
	what, a, b string
	same       bool
}{
	{"two of IPv4", "192.0.2.1", "192.0.2.2", false},
	{"IPv4 and itself in IPv6", "192.0.2.1", "::ffff:192.0.2.1", true},
	{"one /64", "2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff", true},
	{"two /64", "2001:db8:0:1::1", "2001:db8:0:2::1", false},
	{"two /64 that differ in their last bit", "2001:db8:0:4::", "2001:db8:0:5::", false},
	{"one link with two zones", "fe80::1%eth0", "fe80::2%eth1", true},
	{"the IPv6 addresses that hold the bytes of an IPv4 address", "1.2.3.4", "102:304::", false},
	{"no address, and the unspecified ones", "0.0.0.0", "::", false},
}

// inSite returns an address in the i-th /64 of the j-th /56 of a /48.
func inSite(i, j int) netip.Addr {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], 0x2a02_8109_0000_0000+uint64(j)<<8+uint64(i))
	b[15] = byte(1 + i)
	return netip.AddrFrom16(b)
}

// addresses are the promises of Limiter.HoldAddress about one client.
func addresses() []promise {
	return []promise{
		{"no minute of an address holds more than the limit, wherever it begins", clock, func(p *place) {
			until := p.waiter()
			for i := range 3 {
				until(time.Duration(i) * 10 * time.Second)
				p.want("the first three", p.held(address, 3, 1), 1)
			}
			until(59 * time.Second)
			p.want("within the minute", p.held(address, 3, 9), 0)
			v, _ := p.hold(address, 3)
			p.verdict("one too many", v, counters.Verdict{Limit: 3, Reset: time.Second, RetryAfter: time.Second})
			until(window + p.Grain)
			p.want("when the first has left", p.held(address, 3, 9), 1)
			until(70*time.Second + p.Grain)
			v, _ = p.hold(address, 3)
			p.verdict("when the second has left", v, counters.Verdict{OK: true, Limit: 3, Reset: 10*time.Second - p.Grain})
		}},
		{"an IPv4 address is a client, and a /64 of IPv6", nothing, func(p *place) {
			for _, c := range sameClient {
				p.fresh()
				p.want(c.what+", the first", p.held(netip.MustParseAddr(c.a), 3, 2), 2)
				left := 3
				if c.same {
					left = 1
				}
				p.want(c.what+", the second", p.held(netip.MustParseAddr(c.b), 3, 9), left)
			}
		}},
		{"without a limit an address is not counted", nothing, func(p *place) {
			for _, a := range []netip.Addr{address, inSite(1, 1)} {
				for range 100 {
					v, undo := p.hold(a, counters.Unlimited)
					if v != (counters.Verdict{OK: true, Limit: counters.Unlimited, Remaining: counters.Unlimited}) {
						p.Fatalf("without a limit = %+v", v)
					}
					undo()
				}
				p.want("under a limit then", p.held(a, 3, 9), 3)
			}
		}},
		{"an address that may make no request is refused", nothing, func(p *place) {
			for _, a := range []netip.Addr{address, inSite(1, 1)} {
				for _, per := range []int{0, -2, -1 << 31} {
					v, undo := p.hold(a, per)
					if undo(); v.OK || v.RetryAfter != window {
						p.Fatalf("%v with a limit of %d = %+v", a, per, v)
					}
				}
				p.want("under a limit then", p.held(a, 3, 9), 3)
			}
		}},
		{"no address is a client too", nothing, func(p *place) {
			p.want("of nobody known by an address", p.held(netip.Addr{}, 3, 9), 3)
			p.want("of an address", p.held(address, 3, 9), 3)
		}},
		{"each address has its own", nothing, func(p *place) {
			for range 4 {
				for i := range 200 {
					p.hold(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), 3)
				}
			}
			for i := range 200 {
				p.want("what is left of 3", p.held(netip.AddrFrom4([4]byte{192, 0, 2, byte(i)}), 5, 9), 2)
			}
		}},
	}
}

// networks are the promises about the networks of IPv6 around a client.
func networks() []promise {
	return []promise{
		{"a /56 may do four times as much as a client in it", nothing, func(p *place) {
			n := 0
			for i := range 9 {
				n += p.held(inSite(i, 0), 5, 9)
			}
			p.want("of nine clients in a /56", n, 20)
			p.want("of one in the next /56", p.held(inSite(0, 1), 5, 9), 5)
		}},
		{"a /48 may do sixteen times as much as a client in it", nothing, func(p *place) {
			n := 0
			for j := range 6 {
				for i := range 5 {
					n += p.held(inSite(i, j), 3, 9)
				}
			}
			p.want("of thirty clients in a /48", n, 48)
			p.want("of one in the next /48", p.held(netip.MustParseAddr("2a02:8109:1::1"), 3, 9), 3)
		}},
		{"a refusal of a network speaks of the address, and its wait is enough", clock, func(p *place) {
			until := p.waiter()
			for i := range 4 {
				until(time.Duration(i) * time.Second)
				p.want("of a /56", p.held(inSite(i, 0), 1, 1), 1)
			}
			until(10 * time.Second)
			v, undo := p.hold(inSite(9, 0), 1)
			undo()
			if v.OK || v.Limit != 1 || v.Remaining != 0 || v.RetryAfter < 50*time.Second ||
				v.RetryAfter > 50*time.Second+window/8+p.Grain+time.Millisecond || v.Reset != v.RetryAfter {
				p.Fatalf("a fifth client of a /56 = %+v, want to wait for 50 seconds and an eighth of a minute at most", v)
			}
			p.wait(50*time.Second - time.Millisecond)
			p.want("before the first has left", p.held(inSite(9, 0), 1, 1), 0)
			p.wait(v.RetryAfter - 50*time.Second + time.Millisecond)
			p.want("after that wait", p.held(inSite(9, 0), 1, 1), 1)
		}},
		{"no minute of a network holds more than its limit, wherever it begins", clock, func(p *place) {
			type request struct{ at time.Time }
			var admitted []request
			for i := range 600 {
				p.wait(time.Duration(1+i%7) * 97 * time.Millisecond)
				at := p.now()
				if v, _ := p.hold(inSite(i%40, i%6), 2); v.OK {
					admitted = append(admitted, request{at})
				}
			}
			if len(admitted) < 48 {
				p.Fatalf("%d of 600 are admitted in three minutes, want 48 at least", len(admitted))
			}
			for i := 32; i < len(admitted); i++ {
				if span := admitted[i].at.Sub(admitted[i-32].at); span < window {
					p.Fatalf("33 requests of a /48 that may make 32 are admitted within %v", span)
				}
			}
		}},
		{"what a network refuses counts for none", nothing, func(p *place) {
			var back []func()
			for j := range 4 {
				for i := range 4 {
					v, undo := p.hold(inSite(i, j), 1)
					if back = append(back, undo); !v.OK {
						p.Fatalf("of 16 clients in four /56 = %+v", v)
					}
				}
			}
			for i := range 40 { // the /48 refuses them, their own /56 has room
				p.want("of a full /48", p.held(inSite(i%4, 5), 1, 1), 0)
			}
			for i := range 4 {
				back[5*i]()
				p.want("of its fifth /56, when there is room for one", p.held(inSite(i, 5), 1, 1), 1)
				p.want("of one more", p.held(inSite(3, 6), 1, 1), 0)
			}
		}},
		{"what an address is refused counts for no network", nothing, func(p *place) {
			p.want("of one client", p.held(inSite(0, 0), 1, 200), 1)
			p.want("of a second", p.held(inSite(1, 0), 1, 200), 1)
			p.want("of a third", p.held(inSite(2, 0), 1, 200), 1)
			p.want("of a fourth", p.held(inSite(3, 0), 1, 200), 1)
			p.want("of a fifth", p.held(inSite(4, 0), 1, 200), 0)
		}},
		{"a network is as at first when its requests have left", clock, func(p *place) {
			for range 3 {
				n := 0
				for i := range 9 {
					n += p.held(inSite(i, 0), 5, 9)
				}
				p.want("of a /56", n, 20)
				p.wait(window + window/8 + p.Grain + time.Millisecond)
			}
		}},
		{"networks of IPv4 are not counted together", nothing, func(p *place) {
			n := 0
			for i := range 250 {
				n += p.held(netip.AddrFrom4([4]byte{203, 0, 113, byte(i)}), 1, 2)
			}
			p.want("of a /24", n, 250)
		}},
	}
}
