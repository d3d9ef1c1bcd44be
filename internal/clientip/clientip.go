package clientip

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Resolver finds the client's address of a request. The zero Resolver trusts no proxy.
type Resolver struct {
	trusted []netip.Prefix
}

// New returns a Resolver that trusts the proxies within some prefixes.
func New(trusted []netip.Prefix) Resolver {
	var r Resolver
	for _, p := range trusted {
		if bits := p.Bits() - 96; p.Addr().Is4In6() && bits >= 0 {
			p = netip.PrefixFrom(p.Addr().Unmap(), bits) // addresses are compared unmapped
		}
		if p.IsValid() {
			r.trusted = append(r.trusted, p)
		}
	}
	return r
}

// maxHops bounds the walk: nobody has 32 proxies, but anybody can write a long header.
const maxHops = 32

// Of returns the address of the client, never with a zone or as IPv4 in IPv6. It is the
// zero Addr if the server does not know the peer, which is so for a unix socket.
func (r Resolver) Of(req *http.Request) netip.Addr {
	client := parse(req.RemoteAddr)
	if !r.trusts(client) {
		return client
	}
	// Several lines are one list, in their order (RFC 9110 5.3).
	rest := strings.Join(req.Header["X-Forwarded-For"], ",")
	for range maxHops {
		i := strings.LastIndexByte(rest, ',')
		hop := parse(rest[i+1:])
		if !hop.IsValid() {
			break
		}
		client = hop
		if i < 0 || !r.trusts(client) {
			break
		}
		rest = rest[:i]
	}
	return client
}

// Trusts reports whether a request comes from a trusted proxy, whose headers about the call
// may be believed as far as it sets or clears them itself.
func (r Resolver) Trusts(req *http.Request) bool { return r.trusts(parse(req.RemoteAddr)) }

// TrustsAddr reports whether an address is a trusted proxy's, in whatever form it is given.
func (r Resolver) TrustsAddr(a netip.Addr) bool { return r.trusts(a.WithZone("").Unmap()) }

func (r Resolver) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(r.trusted, func(p netip.Prefix) bool { return p.Contains(a) })
}

// parse reads 192.0.2.1, 192.0.2.1:80, 2001:db8::1, [2001:db8::1] and [2001:db8::1]:80, with blanks
// around and zones within. It returns the zero Addr for anything else.
func parse(text string) netip.Addr {
	text = strings.Trim(text, " \t")
	if len(text) > 128 {
		return netip.Addr{} // netip keeps zones, however long
	}
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		text += ":0"
	}
	// each request is here: no reading may fail for nothing
	if strings.HasPrefix(text, "[") || strings.Count(text, ":") == 1 {
		p, _ := netip.ParseAddrPort(text)
		return p.Addr().WithZone("").Unmap()
	}
	a, _ := netip.ParseAddr(text)
	return a.WithZone("").Unmap()
}
