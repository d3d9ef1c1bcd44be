package network

import (
	"net/netip"
	"testing"
)

func TestClientIsAnIPv4AddressOrAnIPv6Network(t *testing.T) {
	for addr, want := range map[string]string{
		"203.0.113.7": "203.0.113.7/32", "::ffff:203.0.113.7": "203.0.113.7/32",
		"2001:db8:1:2:3::4": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64",
	} {
		if got := Of(netip.MustParseAddr(addr)); got.String() != want {
			t.Errorf("Of(%s) = %v, want %s", addr, got, want)
		}
	}
	if got := Of(netip.Addr{}); got != (netip.Prefix{}) {
		t.Errorf("Of(no address) = %v, want no network", got)
	}
}

// Decision 56.
func TestNetworkMayDoFourTimesAsMuchAsTheOneInside(t *testing.T) {
	for addr, want := range map[string][]string{
		"203.0.113.7":             {"203.0.113.0/24", "203.0.0.0/16"},
		"2001:db8:1234:5678::1":   {"2001:db8:1234:5600::/56", "2001:db8:1234::/48", "2001:db8::/32"},
		"2001:db8:ffff:ffff:1::1": {"2001:db8:ffff:ff00::/56", "2001:db8:ffff::/48", "2001:db8::/32"},
	} {
		p, most := Of(netip.MustParseAddr(addr)), 1
		for _, w := range want {
			wider, factor, ok := Widen(p)
			if most *= 4; !ok || wider.String() != w || factor != most {
				t.Errorf("Widen(%v) = %v, %d, %t, want %s, %d", p, wider, factor, ok, w, most)
			}
			p = wider
		}
		if wider, _, ok := Widen(p); ok {
			t.Errorf("Widen(%v) = %v, want it to be the widest", p, wider)
		}
	}
	if wider, _, ok := Widen(netip.Prefix{}); ok {
		t.Errorf("Widen(no network) = %v, want nothing", wider)
	}
}
