package netguard

import (
	"errors"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// maxURL bounds a registered URL, in bytes.
const maxURL = 2048

// CheckURL reads an absolute http or https URL for registration (protocol 4.8, errcode 4005).
// Path and query are kept as they are. Its errors say what to change and never repeat the
// URL, which may hold a password. It looks nothing up: Guard checks the address when it dials.
func CheckURL(raw string) (*url.URL, error) {
	if raw == "" || len(raw) > maxURL {
		return nil, errors.New("the URL must have 1 to 2048 characters")
	}
	if strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }) {
		return nil, errors.New(`the URL must have no blanks, control characters or \: percent-encode them`)
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("the URL cannot be read: write it like https://api.example.com/v1")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the scheme of the URL must be http or https")
	case u.Opaque != "" || u.Host == "":
		return nil, errors.New("the URL needs a host: write it like https://api.example.com/v1")
	case u.User != nil:
		return nil, errors.New("the URL must not hold a user or password: use auth_type and auth_secret")
	case strings.Contains(raw, "#"):
		return nil, errors.New("the URL must not have a fragment (#...): leave it out")
	case !validHost(u.Hostname()):
		return nil, errors.New("the host of the URL must be a name of ASCII letters, digits, - and . (xn-- for others) or " +
			"an address")
	case !validPort(u):
		return nil, errors.New("the port of the URL must be 1 to 65535")
	}
	return u, nil
}

// validHost takes a DNS name, an IPv4 address in any spelling, or an IPv6 address without
// brackets and zone.
func validHost(host string) bool {
	if strings.Contains(host, ":") {
		a, err := netip.ParseAddr(host)
		return err == nil && a.Zone() == ""
	}
	odd := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '.' || r == '_')
	}
	return host != "" && len(host) <= 253 && !strings.HasPrefix(host, ".") &&
		!strings.Contains(host, "..") && !strings.ContainsFunc(host, odd)
}

func validPort(u *url.URL) bool {
	if !strings.HasSuffix(u.Host, ":") && u.Port() == "" {
		return true
	}
	n, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil && n > 0
}

// LooksPrivate reports whether the host of a URL is, as a text, an address that this guard
// does not dial, in any spelling that some resolver understands, or a name of this host.
// It is for a warning, not for safety: names are not looked up.
func (g *Guard) LooksPrivate(u *url.URL) bool {
	host, port, a := server(u)
	n, _ := strconv.ParseUint(port, 10, 16)
	return a.IsValid() && !g.allow.hosts[key(host, port)] && g.allow.refusalOf(netip.AddrPortFrom(a, uint16(n))) != ""
}

// Inside reports whether the host of a URL is, as a text, none of the public internet: an address that is not
// public in any spelling that some resolver understands, a name of this host, a name without a dot, or one below a
// domain that is kept for private networks (RFC 6762, RFC 8375, and ICANN's .internal). Names are not looked up: where
// another one leads is found out by Guard when it dials.
func Inside(u *url.URL) bool {
	host, port, a := server(u)
	if a.IsValid() {
		n, _ := strconv.ParseUint(port, 10, 16)
		return allowed{}.refusalOf(netip.AddrPortFrom(a, uint16(n))) != ""
	}
	return !strings.Contains(host, ".") || slices.ContainsFunc(privateDomains,
		func(d string) bool { return strings.HasSuffix(host, d) })
}

var privateDomains = []string{".local", ".internal", ".home.arpa"}

// SameServer reports whether two URLs name the same host and port in whatever spelling; of
// http and https, their default ports count as one. Names are not looked up.
func SameServer(a, b *url.URL) bool {
	hostA, portA, addrA := server(a)
	hostB, portB, addrB := server(b)
	standard := func(port string) bool { return port == "80" || port == "443" }
	return (portA == portB || standard(portA) && standard(portB)) &&
		(hostA == hostB || addrA.IsValid() && dialled(addrA) == dialled(addrB))
}

// dialled is the address that is reached by dialling one: that of no address in particular
// leads to this host.
func dialled(a netip.Addr) netip.Addr {
	switch a {
	case netip.IPv4Unspecified():
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case netip.IPv6Unspecified():
		return netip.IPv6Loopback()
	}
	return a
}

// server returns the host of a URL in lower case, its port, and the address that the host
// is in some spelling, if it is one or a name of this host.
func server(u *url.URL) (host, port string, a netip.Addr) {
	host, port = strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	port = strings.TrimLeft(port, "0") // what dials reads a number
	a, err := netip.ParseAddr(host)
	if err != nil {
		a = oldSpelling(host)
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") { // RFC 6761 6.3
		a = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return host, port, plain(a)
}

// oldSpelling reads what inet_aton(3) reads: one to four numbers, decimal, octal (0177) or
// hexadecimal (0x7f), of which the last fills the remaining bytes. Anything else is the
// zero Addr.
func oldSpelling(host string) netip.Addr {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}
	}
	var sum uint64
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts))
		}
		if strings.HasPrefix(part, "0o") || strings.HasPrefix(part, "0b") || strings.Contains(part, "_") {
			return netip.Addr{}
		}
		n, err := strconv.ParseUint(part, 0, bits)
		if err != nil {
			return netip.Addr{}
		}
		sum = sum<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
}
