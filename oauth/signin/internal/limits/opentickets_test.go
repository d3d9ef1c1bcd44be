package limits

import (
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/oauth/signin/internal/outbox"
)

// flood6 is the i-th /64 of a flood that holds 64 /32s.
func flood6(i int) netip.Addr {
	return netip.AddrFrom16([16]byte{0x20, 0x01, 0x40, byte(i % 64), byte(i >> 16), byte(i >> 8), byte(i)})
}

// flood4 is the i-th IPv4 address of a flood that holds 400 /16s.
func flood4(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(20 + i%400/200), byte(i % 200), byte(i / 400 >> 8), byte(i / 400)})
}

func TestFloodHasFewCodesMailedAndKeepsNobodyElseFromTheirs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, taken, honest := newOpenTickets(openEmailsFree, CodeLife), 0, 0
		for i := range 44_000 {
			from := flood6(i)
			if i%11 == 0 {
				from = flood4(i / 11)
			}
			if o.Take(network.Of(from)) == 0 {
				taken++
			}
			if i%200 == 0 {
				home := netip.AddrFrom4([4]byte{byte(100 + honest%50), byte(honest), 0, 1}) // in 220 other /16s
				if wait := o.Take(network.Of(home)); wait > 0 {
					t.Errorf("%v, who comes from elsewhere, waits %v behind %d", home, wait, taken)
				}
				honest++
			}
			time.Sleep(20 * time.Millisecond)
		}
		if taken > 2_500 {
			t.Errorf("the flood had %d mails, want at most 2,500", taken)
		}
		if taken < openEmailsFree-honest {
			t.Errorf("the flood had %d mails, want %d that are free", taken, openEmailsFree)
		}
		for k, g := range map[string]*halves{"/64": &o.history.levels[0], "/32": &o.history.levels[3]} {
			if n := len(g.now) + len(g.before); n > taken+honest {
				t.Errorf("%d networks of %s are kept for %d mails", n, k, taken+honest)
			}
		}
	})
}

func TestOpenTicketsAreForgottenAfterTwiceTheirLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newOpenTickets(openEmailsFree, CodeLife)
		last := network.Of(flood6(0))
		for o.Take(last) == 0 {
		}
		if wait := o.Take(last); wait != 2*CodeLife {
			t.Errorf("they wait %v, want twenty minutes", wait)
		}
		time.Sleep(2*CodeLife - time.Second)
		if wait := o.Take(last); wait != time.Second {
			t.Errorf("nearly twenty minutes later they wait %v, want a second", wait)
		}
		time.Sleep(time.Second)
		if wait := o.Take(last); wait != 0 {
			t.Errorf("twenty minutes later they wait %v, want not at all", wait)
		}
	})
}

// A hundred /16 and five /32: fewer emails than the outbox holds, even if none of them is sent.
func TestFloodOfAHundredNetworksFillsNoOutbox(t *testing.T) {
	o, taken := newOpenTickets(openEmailsFree, CodeLife), 0
	for i := range 200_000 {
		from := netip.AddrFrom4([4]byte{byte(1 + i%100), 51, byte(i / 100), byte(i / 25600)})
		if i%21 == 0 {
			from = netip.AddrFrom16([16]byte{0x20, 1, 0xd, byte(i % 5), 0, 0, byte(i >> 8), byte(i)})
		}
		if o.Take(network.Of(from)) == 0 {
			taken++
		}
	}
	if taken >= outbox.Capacity || taken < openEmailsFree {
		t.Errorf("the flood has %d emails waiting, want fewer than the %d that can", taken, outbox.Capacity)
	}
}

// Of a flood from one /24 or /48, those who share no more than its provider notice nothing.
func TestFloodOfOneSiteKeepsNobodyOutWhoSharesItsProvider(t *testing.T) {
	for name, c := range map[string]struct {
		flood  func(i int) netip.Addr
		honest string
	}{
		"a /24": {func(i int) netip.Addr { return netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}) }, "198.51.7.7"},
		"a /48": {func(i int) netip.Addr {
			return netip.AddrFrom16([16]byte{0x20, 1, 0xd, 0xb8, 0, 0, byte(i >> 8), byte(i)})
		}, "2001:db8:7::1"},
	} {
		o, taken := newOpenTickets(openEmailsFree, CodeLife), 0
		for i := range 10_000 {
			if o.Take(network.Of(c.flood(i))) == 0 {
				taken++
			}
		}
		if wait := o.Take(network.Of(netip.MustParseAddr(c.honest))); wait > 0 {
			t.Errorf("%s: after %d of a flood, %s waits %v", name, taken, c.honest, wait)
		}
		if taken > openEmailsFree+openAround {
			t.Errorf("%s: the flood had %d, want %d and a few", name, taken, openEmailsFree)
		}
	}
}
