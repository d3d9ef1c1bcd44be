package gateway

import (
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/urlpath"
)

// sessionCookie is the sign-in cookie: it opens the console, and no service may see it.
const sessionCookie = "open_sso_token"

// rewrite turns the client's request into the one to the service. Headers that the service
// must be able to trust are written last: a client can have headers of its choice removed,
// by naming them in Connection.
func (p *proxied) rewrite(pr *httputil.ProxyRequest) {
	in, out := pr.In, pr.Out
	strip(out.URL, p.prefix)
	pr.SetURL(p.target)
	forget(out.Header)
	if !p.keepBearer {
		delete(out.Header, "Authorization")
	}
	if !isWebSocket(in) {
		delete(out.Header, "Connection") // an upgrade, if anything
		delete(out.Header, "Upgrade")
		delete(out.Header, "Http2-Settings")
	}
	dropCookie(out, sessionCookie)

	v, client := reqctx.From(in.Context()), p.gateway.c.ClientIP(in)
	told := values{header: out.Header}
	told.set("X-Forwarded-For", client.String())
	told.set("X-Forwarded-Host", in.Host)
	told.set("X-Forwarded-Proto", scheme(in, client))
	if p.prefix != "" {
		told.set("X-Forwarded-Prefix", p.prefix)
	}
	told.set(reqctx.Header, v.RequestID)
	for _, h := range (identity{v.Caller.AppID, v.Caller.UserID, v.Caller.Scope, v.Entry.(*entry).account.Tier}).each() {
		if h.value == "" {
			delete(out.Header, h.name) // so that an earlier value does not stay
		} else {
			told.set(h.name, h.value)
		}
	}
}

// values sets headers of one value each, by the names that net/http has for them. Their memory is one
// allocation, of as many as rewrite sets.
type values struct {
	header http.Header
	left   []string
}

func (v *values) set(name, value string) {
	if len(v.left) == 0 {
		v.left = make([]string, 9)
	}
	v.left[0] = value
	v.header[name] = v.left[:1:1] // who adds to one does not write into the next
	v.left = v.left[1:]
}

// scheme returns the client's scheme: as this service sees it, or as a trusted proxy reports
// it.
func scheme(in *http.Request, client netip.Addr) string {
	if previous := in.Header["X-Forwarded-Proto"]; len(previous) == 1 && (previous[0] == "https" || previous[0] == "http") && !isPeer(in, client) {
		return previous[0]
	}
	if in.TLS != nil {
		return "https"
	}
	return "http"
}

// strip removes a prefix, which is there, from both forms of a path. The rest is cut from the
// escaped form, so that nothing is decoded that was not compared.
func strip(u *url.URL, prefix string) {
	rest, _ := urlpath.Cut(u.EscapedPath(), prefix)
	if path, err := url.PathUnescape(rest); err == nil { // the form is net/url's own
		u.Path, u.RawPath = path, rest // if it needs none, SetURL drops it
	}
}

// forget removes the headers that only the gateway may set. Services that make CGI-like
// variables of headers read _ as -, so a name counts in both forms.
func forget(h http.Header) {
	for name := range h {
		if folds(name, "x-keystile-", true) || folds(name, "x-forwarded", true) || folds(name, "x-real-ip", false) || folds(name, "x-request-id", false) {
			delete(h, name)
		}
	}
	delete(h, "Proxy") // as a variable it would name a proxy for the service's own calls
}

// folds reports whether a header's name is, or begins with, one in small letters.
func folds(name, with string, begins bool) bool {
	if len(name) < len(with) || len(name) > len(with) && !begins {
		return false
	}
	for i := range len(with) {
		c := name[i]
		if c == '_' {
			c = '-'
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != with[i] {
			return false
		}
	}
	return true
}

// isPeer reports whether an address is that of the connection: nobody stands between.
func isPeer(r *http.Request, client netip.Addr) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err != nil || peer.Addr().Unmap() == client.Unmap()
}

// dropCookie takes a cookie out of a request and leaves the others as they are.
func dropCookie(r *http.Request, name string) {
	lines := r.Header["Cookie"]
	if len(lines) == 0 {
		return
	}
	kept := make([]string, 0, len(lines))
	for _, line := range lines {
		var parts []string
		for part := range strings.SplitSeq(line, ";") {
			if !isCookie(part, name) {
				parts = append(parts, strings.TrimSpace(part))
			}
		}
		if len(parts) > 0 {
			kept = append(kept, strings.Join(parts, "; "))
		}
	}
	if r.Header["Cookie"] = kept; len(kept) == 0 {
		delete(r.Header, "Cookie")
	}
}

func isCookie(pair, name string) bool {
	key, _, _ := strings.Cut(pair, "=")
	return strings.TrimSpace(key) == name
}
