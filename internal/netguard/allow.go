package netguard

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// allowed holds the private addresses that the operator permits.
type allowed struct {
	prefixes []netip.Prefix
	ports    map[netip.AddrPort]bool // one address, one port
	hosts    map[string]bool         // name:port, in lower case
}

func parseAllow(entries []string) (allowed, error) {
	a := allowed{ports: map[netip.AddrPort]bool{}, hosts: map[string]bool{}}
	var errs []error
	for _, entry := range entries {
		if !a.add(strings.TrimSpace(entry)) {
			errs = append(errs, fmt.Errorf("netguard: %q cannot be allowed: write a CIDR (10.0.0.0/8), an address (10.1.2.3) "+
				"or host:port (vault.internal:8200)", entry))
		}
	}
	return a, errors.Join(errs...)
}

func (a *allowed) add(entry string) bool {
	if p, err := netip.ParsePrefix(entry); err == nil {
		if bits := p.Bits() - 96; p.Addr().Is4In6() {
			if bits < 0 {
				return false // half of it is IPv4
			}
			p = netip.PrefixFrom(p.Addr().Unmap(), bits)
		}
		a.prefixes = append(a.prefixes, p.Masked())
		return true
	}
	if ip, err := netip.ParseAddr(entry); err == nil {
		ip = plain(ip)
		a.prefixes = append(a.prefixes, netip.PrefixFrom(ip, ip.BitLen()))
		return true
	}
	if ap, err := netip.ParseAddrPort(entry); err == nil {
		a.ports[netip.AddrPortFrom(plain(ap.Addr()), ap.Port())] = true
		return ap.Port() != 0
	}
	host, port, err := net.SplitHostPort(entry)
	n, portErr := strconv.ParseUint(port, 10, 16)
	if err != nil || portErr != nil || n == 0 || !validHost(host) || strings.Contains(host, ":") {
		return false
	}
	a.hosts[key(host, strconv.FormatUint(n, 10))] = true
	return true
}

// names reports whether a host:port was admitted by its name.
func (a allowed) names(address string) bool {
	if len(a.hosts) == 0 {
		return false
	}
	host, port, err := net.SplitHostPort(address)
	return err == nil && a.hosts[key(host, port)]
}

func key(host, port string) string {
	return strings.ToLower(strings.TrimSuffix(host, ".")) + ":" + port
}

// refusalOf says why an address may not be dialled, "" if it may.
func (a allowed) refusalOf(to netip.AddrPort) string {
	ip := plain(to.Addr())
	why := private(ip)
	if why == "" || a.ports[netip.AddrPortFrom(ip, to.Port())] {
		return ""
	}
	if !slices.ContainsFunc(a.prefixes, func(p netip.Prefix) bool { return p.Contains(ip) }) {
		return why
	}
	// A translator that is admitted must not open the way to what is not.
	for _, inner := range embedded(ip) {
		if why := a.refusalOf(netip.AddrPortFrom(inner, to.Port())); why != "" {
			return why + " inside of another address"
		}
	}
	return ""
}

// plain strips what does not change where an address leads.
func plain(a netip.Addr) netip.Addr { return a.WithZone("").Unmap() }
