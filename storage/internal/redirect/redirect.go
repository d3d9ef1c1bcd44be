// Package redirect reads redirect_uris.
//
// The grammar is our own and narrower than RFC 3986, because browsers, proxies and URL libraries
// read the rest in different ways. net/url reads a text that passes in the same way.
package redirect

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
)

// MaxLength is the longest redirect_uri, in bytes.
const MaxLength = 2048

// ErrScheme is the error of Split for a scheme that is neither https nor http.
var ErrScheme = errors.New("it must begin with https://")

// Split reads scheme://host[:port] of a redirect_uri of https or http, in lower case.
func Split(raw string) (scheme, host, port string, err error) {
	if raw == "" || len(raw) > MaxLength {
		return "", "", "", fmt.Errorf("it must have 1 to %d bytes", MaxLength)
	}
	if err := CheckCharacters(raw); err != nil {
		return "", "", "", err
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	scheme = strings.ToLower(scheme)
	if !ok || scheme != "https" && scheme != "http" {
		return "", "", "", ErrScheme
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority = rest[:i]
	}
	host, port, err = SplitAuthority(strings.ToLower(authority))
	return scheme, host, port, err
}

// CheckCharacters refuses characters that are not allowed in a URI, and encoded control characters.
func CheckCharacters(raw string) error {
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c <= ' ' || c >= 0x7f:
			return errors.New("it holds a space, a control or a non-ASCII character; write international hosts in punycode")
		case strings.IndexByte("\\\"<>^`{|}", c) >= 0:
			return fmt.Errorf("it holds %q", c)
		case c == '#':
			return errors.New("it has a fragment")
		case c == '%':
			if i+2 >= len(raw) {
				return errors.New("it has a broken % escape")
			}
			b, err := strconv.ParseUint(raw[i+1:i+3], 16, 8)
			if err != nil {
				return errors.New("it has a broken % escape")
			}
			if b < ' ' || b == 0x7f {
				return errors.New("it hides a control character in a % escape")
			}
		}
	}
	return nil
}

// SplitAuthority reads host[:port], lower-case. The host is a DNS name, an IPv4 address
// or an IPv6 address in brackets, each in its one normal form.
func SplitAuthority(authority string) (host, port string, err error) {
	host = authority
	if strings.HasPrefix(authority, "[") {
		end := strings.IndexByte(authority, ']')
		if end < 0 {
			return "", "", errors.New("its IPv6 address has no closing bracket")
		}
		addr, err := netip.ParseAddr(authority[1:end])
		if err != nil || !addr.Is6() || addr.Zone() != "" || addr.String() != authority[1:end] {
			return "", "", errors.New("its IPv6 address is not in normal form")
		}
		host, port = authority[:end+1], authority[end+1:]
		if port != "" && port[0] != ':' {
			return "", "", errors.New("its host is malformed")
		}
	} else {
		if i := strings.IndexByte(authority, ':'); i >= 0 {
			host, port = authority[:i], authority[i:]
		}
		if !isHostName(host) {
			return "", "", fmt.Errorf("host %q is malformed", host)
		}
	}
	if port == "" {
		return host, "", nil
	}
	n, err := strconv.ParseUint(port[1:], 10, 16)
	if err != nil || n == 0 || strconv.FormatUint(n, 10) != port[1:] {
		return "", "", fmt.Errorf("port %q is not a number from 1 to 65535", port[1:])
	}
	return host, port[1:], nil
}

// isHostName accepts dotted labels of a-z, 0-9 and inner hyphens. A name whose last label
// is a number must be a plain IPv4 address: 127.1 and 0x7f000001 are addresses to a browser.
func isHostName(host string) bool {
	if host == "" || len(host) > 253 {
		return false
	}
	labels := strings.Split(host, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 || l[0] == '-' || l[len(l)-1] == '-' {
			return false
		}
		for _, c := range []byte(l) {
			if c != '-' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
				return false
			}
		}
	}
	if last := labels[len(labels)-1]; last[0] >= '0' && last[0] <= '9' {
		addr, err := netip.ParseAddr(host)
		return err == nil && addr.Is4()
	}
	return true
}

// IsLoopback reports whether a host that Split has returned is this device: a loopback address, or localhost and what
// is below it, which browsers look up nowhere (RFC 6761 6.3).
func IsLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && addr.IsLoopback()
}

// JoinPort puts host and port together, port "" for none.
func JoinPort(host, port string) string {
	if port == "" {
		return host
	}
	return host + ":" + port
}
