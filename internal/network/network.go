package network

import "net/netip"

// rung is one step of the ladder.
type rung struct{ bits, factor int }

var (
	ladder4 = []rung{{24, 4}, {16, 16}}
	ladder6 = []rung{{56, 4}, {48, 16}, {32, 64}}
)

// Of returns the network that counts as one client: an IPv4 address itself, of an IPv6 address
// its /64, because one host has all of it. For no address it is the zero Prefix.
func Of(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	bits := 32
	if a.Is6() {
		bits = 64
	}
	p, _ := a.Prefix(bits)
	return p
}

// Widen returns the next wider network around one, and how many times as much as one client
// it may do. ok is false for the widest, and for the zero Prefix.
func Widen(p netip.Prefix) (wider netip.Prefix, factor int, ok bool) {
	ladder := ladder4
	if p.Addr().Is6() {
		ladder = ladder6
	}
	for _, r := range ladder {
		if r.bits < p.Bits() {
			wider, _ = p.Addr().Prefix(r.bits)
			return wider, r.factor, true
		}
	}
	return netip.Prefix{}, 0, false
}

// Around returns a network and the wider ones around it, the narrowest first.
func Around(p netip.Prefix) (all []netip.Prefix) {
	for more := true; more; p, _, more = Widen(p) {
		all = append(all, p)
	}
	return all
}
