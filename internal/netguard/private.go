package netguard

import "net/netip"

// kind is a block of addresses that are not public.
type kind struct {
	prefix netip.Prefix
	name   string
}

// notPublic is the IANA special-purpose registries (RFC 6890) as far as they are not
// globally reachable, and the metadata services that live on public addresses.
var notPublic = kinds(
	"0.0.0.0/8", "unspecified",
	"10.0.0.0/8", "private",
	"100.64.0.0/10", "shared by a carrier (RFC 6598)",
	"127.0.0.0/8", "loopback",
	"168.63.129.16/32", "metadata of a cloud",
	"169.254.0.0/16", "link-local",
	"172.16.0.0/12", "private",
	"192.0.0.0/24", "protocol assignments",
	"192.0.2.0/24", "documentation",
	"192.88.99.0/24", "6to4 relay",
	"192.168.0.0/16", "private",
	"198.18.0.0/15", "benchmarking",
	"198.51.100.0/24", "documentation",
	"203.0.113.0/24", "documentation",
	"224.0.0.0/4", "multicast",
	"240.0.0.0/4", "reserved or broadcast",

	"::/128", "unspecified",
	"::1/128", "loopback",
	"64:ff9b::/96", "NAT64",
	"64:ff9b:1::/48", "NAT64",
	"2001::/32", "Teredo",
	"2001::/23", "protocol assignments",
	"2001:db8::/32", "documentation",
	"2002::/16", "6to4",
	"3ffe::/16", "6bone",
	"3fff::/20", "documentation",
	"fc00::/7", "private (ULA)",
	"fe80::/10", "link-local",
	"fec0::/10", "site-local",
	"ff00::/8", "multicast",
)

// global is the only part of IPv6 from which public addresses are given.
var global = netip.MustParsePrefix("2000::/3")

func kinds(table ...string) (out []kind) {
	for i := 0; i < len(table); i += 2 {
		out = append(out, kind{netip.MustParsePrefix(table[i]), table[i+1]})
	}
	return out
}

// private names the kind of an address that is not public; "" if it is. The address has
// no zone and is not IPv4 in IPv6.
func private(a netip.Addr) string {
	if !a.IsValid() {
		return "no address"
	}
	for _, k := range notPublic {
		if k.prefix.Contains(a) {
			return k.name
		}
	}
	if a.Is6() && !global.Contains(a) {
		return "not given to anyone"
	}
	return ""
}

var (
	wellKnownNAT64 = netip.MustParsePrefix("64:ff9b::/96")   // RFC 6052
	localNAT64     = netip.MustParsePrefix("64:ff9b:1::/48") // RFC 8215
	sixToFour      = netip.MustParsePrefix("2002::/16")      // RFC 3056
)

// embedded returns the IPv4 addresses to which a translator or tunnel may send what is
// addressed to a.
func embedded(a netip.Addr) (out []netip.Addr) {
	b := a.As16()
	switch {
	case wellKnownNAT64.Contains(a):
		return []netip.Addr{netip.AddrFrom4([4]byte(b[12:]))}
	case sixToFour.Contains(a):
		return []netip.Addr{netip.AddrFrom4([4]byte(b[2:6]))}
	case localNAT64.Contains(a):
		// Where the bits are depends on a prefix length that only the translator knows:
		// RFC 6052 2.2 for /96 and /48, whose unused bits are zero.
		for _, bits := range [][4]byte{[4]byte(b[12:]), {b[6], b[7], b[9], b[10]}} {
			if bits != [4]byte{} {
				out = append(out, netip.AddrFrom4(bits))
			}
		}
	}
	return out
}
