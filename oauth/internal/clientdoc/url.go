package clientdoc

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/keystile/keystile/storage/client"
)

const maxURL = 2048 // bytes of a jwks_uri

// CheckID checks a client_id that is to be the URL of a document, and returns its host, with the
// port if it is not 443. It looks nothing up.
func (f *Fetcher) CheckID(id string) (host string, err error) {
	if len(id) > client.MaxID {
		return "", wrong("client_id: the URL of a document has at most %d bytes", client.MaxID)
	}
	u, err := f.checkURL(id)
	switch {
	case err != nil:
		return "", wrong("client_id: %v", err)
	case strings.Contains(id, "?"):
		return "", wrong("client_id: the URL of a document has no query")
	case u.Path == "" || u.Path == "/":
		return "", wrong("client_id: the URL of a document has a path, such as /oauth/client.json")
	case strings.Contains(id, "="):
		return "", wrong("client_id: the URL of a document has no =") // which divides the keys of records
	}
	return u.Host, nil
}

// CheckHost checks a host as it is in the URL of a document: a DNS name in lower case, with a port if it is not 443.
func CheckHost(host string) error {
	_, err := parse(client.DocumentPrefix + host)
	if err == nil && strings.ContainsAny(host, "/?#") {
		err = errors.New("it is more than a host")
	}
	return err
}

// checkURL reads a URL that something is fetched from. It has one spelling.
func (f *Fetcher) checkURL(raw string) (*url.URL, error) {
	rest, plain := strings.CutPrefix(raw, "http://")
	if plain = plain && f.plain; plain {
		raw = client.DocumentPrefix + rest
	}
	u, err := parse(raw)
	if err != nil {
		return nil, err
	}
	for segment := range strings.SplitSeq(u.EscapedPath(), "/") {
		if segment == "." || segment == ".." {
			return nil, errors.New("its path has a segment of dots")
		}
	}
	if plain {
		u.Scheme = "http"
	}
	switch {
	case f.names(u):
		return u, nil
	case plain:
		return nil, errors.New("http is for private addresses that are allowed: begin with https://")
	}
	return u, checkPublicName(u.Hostname())
}

func parse(raw string) (*url.URL, error) {
	if !strings.HasPrefix(raw, client.DocumentPrefix) || len(raw) > maxURL {
		return nil, errors.New("it must begin with https://")
	}
	if err := client.CheckRedirect(raw); err != nil { // its characters, its host and its port
		return nil, err
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("it cannot be read")
	}
	escaped := strings.ToLower(u.EscapedPath())
	switch {
	case u.Host != strings.ToLower(u.Host):
		return nil, errors.New("write its host in lower case")
	case u.Port() == "443":
		return nil, errors.New("leave out its port: 443 is that of https")
	case strings.Contains(escaped, "%2e"), strings.Contains(escaped, "%2f"), strings.Contains(escaped, "%5c"):
		return nil, errors.New("its path hides a dot or a slash in a % escape")
	}
	return u, nil
}

// privateNames are the last labels of names that mean something inside of a network only (RFC 6761, RFC
// 6762, RFC 7686, RFC 8375, RFC 9476, and what routers make up).
var privateNames = []string{
	"localhost", "local", "internal", "test", "example", "invalid", "onion", "alt", "arpa",
	"lan", "home", "corp", "mail", "intranet", "private", "localdomain", "domain", "host", "router", "workgroup",
}

// checkPublicName returns an error unless a host is a DNS name that anybody may have.
func checkPublicName(host string) error {
	if _, err := netip.ParseAddr(host); err == nil {
		return errors.New("its host is an address: give a DNS name")
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == host || slices.Contains(privateNames, last) {
		return errors.New("its host is a name that is not given to anybody on the Internet")
	}
	return nil
}

// names reports whether the operator has admitted a host that is no public name.
func (f *Fetcher) names(u *url.URL) bool {
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "http":
		port = "80"
	default:
		port = "443"
	}
	if slices.Contains(f.hosts, net.JoinHostPort(u.Hostname(), port)) {
		return true
	}
	a, err := netip.ParseAddr(u.Hostname())
	n, _ := strconv.ParseUint(port, 10, 16)
	return err == nil && (slices.Contains(f.ports, netip.AddrPortFrom(a, uint16(n))) ||
		slices.ContainsFunc(f.networks, func(p netip.Prefix) bool { return p.Contains(a) }))
}

// allow reads the entries of Config.Allow, which netguard has found to be right.
func (f *Fetcher) allow(entries []string) {
	for _, entry := range entries {
		entry = strings.ToLower(strings.TrimSpace(entry))
		if p, err := netip.ParsePrefix(entry); err == nil {
			f.networks = append(f.networks, p.Masked())
		} else if a, err := netip.ParseAddr(entry); err == nil {
			f.networks = append(f.networks, netip.PrefixFrom(a, a.BitLen()))
		} else if ap, err := netip.ParseAddrPort(entry); err == nil {
			f.ports = append(f.ports, ap)
		} else {
			f.hosts = append(f.hosts, entry)
		}
	}
}
