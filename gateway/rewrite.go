package gateway

import (
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"

	"github.com/keystile/keystile/gateway/internal/repeat"
	"github.com/keystile/keystile/internal/cookies"
	"github.com/keystile/keystile/internal/dpop"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/urlpath"
	"github.com/keystile/keystile/storage/lasthop"
)

// rewrite turns the client's request into the one to the service. Headers that the service
// must be able to trust are written last: a client can have headers of its choice removed,
// by naming them in Connection.
func (p *proxied) rewrite(pr *httputil.ProxyRequest) {
	in, out := pr.In, pr.Out
	strip(out.URL, p.prefix)
	out.URL.RawQuery = in.URL.RawQuery // httputil has dropped or rewritten what it cannot parse: signatures cover it
	pr.SetURL(p.target)
	dropRefused(out.Header)
	if !p.keepBearer {
		delete(out.Header, "Authorization")
		delete(out.Header, dpop.HeaderProof)
	}
	if !isWebSocket(in) {
		delete(out.Header, "Connection") // an upgrade, if anything
		delete(out.Header, "Upgrade")
		delete(out.Header, "Http2-Settings")
	}
	dropCookies(out)

	v, client := reqctx.From(in.Context()), p.gateway.c.ClientIP(in)
	told := values{header: out.Header}
	for _, h := range whence(in, client) {
		told.set(h.name, h.value)
	}
	if p.prefix != "" {
		told.set("X-Forwarded-Prefix", p.prefix)
	}
	told.set(reqctx.Header, v.RequestID)
	e := v.Entry.(*entry)
	who := identity{v.Caller.AppID, v.Caller.UserID, v.Caller.Scope, e.account.Tier}
	if p.told.Kind != lasthop.None && p.told.Kind != lasthop.Signed {
		for _, h := range who.each() { // of which dropRefused has left none
			if h.value != "" {
				told.set(h.name, h.value)
			}
		}
	}
	if e.keyed != nil { // of the headers that this service sees, and no others
		e.keyed.headers = repeat.HashHeaders(out.Header, p.gateway.madeHere(in, v))
	}
	if e.statement != "" { // of this attempt alone, so not a part of what makes a repetition
		told.set(lasthop.Header, e.statement)
	}
}

// sign makes the statement that tells the service who calls.
func (p *proxied) sign(r *http.Request) error {
	v := reqctx.From(r.Context())
	call := p.told
	call.RequestID = v.RequestID
	statement, err := p.gateway.c.Signer.SignCaller(r.Context(), v.Caller, call)
	if err != nil {
		return noStatement.Because(err)
	}
	v.Entry.(*entry).statement = statement
	return nil
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

// strip removes a prefix, which is there, from both forms of a path. The rest is cut from the
// escaped form, so that nothing is decoded that was not compared.
func strip(u *url.URL, prefix string) {
	rest, _ := urlpath.Cut(u.EscapedPath(), prefix)
	if path, err := url.PathUnescape(rest); err == nil { // the form is net/url's own
		u.Path, u.RawPath = path, rest // if it needs none, SetURL drops it
	}
}

// dropCookies takes our cookies out of a request and leaves the others as they are.
func dropCookies(r *http.Request) {
	lines := r.Header["Cookie"]
	if len(lines) == 0 {
		return
	}
	kept := make([]string, 0, len(lines))
	for _, line := range lines {
		var parts []string
		for part := range strings.SplitSeq(line, ";") {
			if !cookies.Ours(part) {
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
