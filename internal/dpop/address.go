package dpop

import (
	"net/http"
	"net/url"
	"strings"
)

// sameAddress reports whether two addresses are the same without their queries and fragments (RFC 9449 4.3). The second
// is one of ours, as a request was sent to it.
func sameAddress(claimed, ours string) bool {
	if claimed == ours {
		return true
	}
	a, ok := normal(claimed)
	if !ok {
		return false
	}
	b, ok := normal(ours)
	return ok && a == b
}

// normal returns the normal form of an http or https address without its query and fragment (RFC 3986 6.2.2, 6.2.3).
func normal(text string) (address string, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Opaque != "" {
		return "", false
	}
	scheme, host, port := u.Scheme, strings.ToLower(u.Hostname()), u.Port()
	usual, known := map[string]string{"http": "80", "https": "443"}[scheme]
	if !known || host == "" {
		return "", false
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port != "" && port != usual {
		host += ":" + port
	}
	return scheme + "://" + host + normalPath(u.EscapedPath()), true
}

// normalPath returns a path without dot segments, whose escapes are in capitals and only where they are needed.
func normalPath(escaped string) string {
	var b strings.Builder
	for i := 0; i < len(escaped); i++ {
		if escaped[i] != '%' {
			b.WriteByte(escaped[i])
			continue
		}
		c := unhex(escaped[i+1])<<4 | unhex(escaped[i+2]) // net/url has checked that they are there
		if isUnreserved(c) {
			b.WriteByte(c)
		} else {
			b.WriteString(strings.ToUpper(escaped[i : i+3]))
		}
		i += 2
	}
	return withoutDots(b.String())
}

// withoutDots removes the dot segments of a path (RFC 3986 5.2.4). Empty segments stay: they may mean something.
func withoutDots(path string) string {
	var kept []string
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, s := range segments {
		last := i == len(segments)-1
		switch s {
		case ".", "..":
			if s == ".." && len(kept) > 0 {
				kept = kept[:len(kept)-1]
			}
			if last {
				kept = append(kept, "")
			}
		default:
			kept = append(kept, s)
		}
	}
	return "/" + strings.Join(kept, "/")
}

func unhex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	default:
		return c&^0x20 - 'A' + 10
	}
}

// isUnreserved: ALPHA / DIGIT / "-" / "." / "_" / "~" (RFC 3986 2.3)
func isUnreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-._~", c) >= 0
}

// pathOf returns the path of a request as its client sent it, whatever a handler in between has cut off.
func pathOf(r *http.Request) string {
	if strings.HasPrefix(r.RequestURI, "/") {
		path, _, _ := strings.Cut(r.RequestURI, "?")
		return path
	}
	return r.URL.EscapedPath()
}

// originOf returns scheme and host of an address that begins with them, such as the audience of a token; "": it has
// none.
func originOf(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return ""
	}
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}
