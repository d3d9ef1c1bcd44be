package gateway

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/dpop"
)

// verifiedCall is a call to another service, whose proxy asks at /api/v1/verify whether it may
// pass.
type verifiedCall struct {
	product, method, path string
	reported              bool // method and path are the call's, and not those of the question
}

// productOr returns the product that a proxy asks for, or else this one.
func (e *entry) productOr(product string) string {
	if e.verified != nil {
		return e.verified.product
	}
	return product
}

// productOf reads the product out of a query: the first one, because some proxies put the
// client's own query behind theirs. ok is false if it cannot be read: a call that is to be
// charged must not pass as if no product were named.
func productOf(query string) (product string, ok bool) {
	for pair := range strings.SplitSeq(query, "&") {
		if text, found := strings.CutPrefix(pair, "product="); found {
			product, err := url.QueryUnescape(text)
			return product, err == nil
		}
	}
	return "", true
}

// verifiedCallOf returns the call that a proxy asks about, as far as its headers can be
// trusted. A proxy sends the client's path in one of two headers, X-Forwarded-Uri or, with
// nginx, X-Original-URI, and forwards the other as its client sent it. So where both are
// present and differ, either may be forged, and neither is used; the same goes for two values
// of one of them. Without a path the trail shows the verify request itself.
func (g *Gateway) verifiedCallOf(r *http.Request, product string) *verifiedCall {
	a := &verifiedCall{product, r.Method, r.URL.Path, false}
	if !g.proxies.Trusts(r) {
		return a
	}
	var uris, methods []string
	for _, kind := range []string{"X-Forwarded-", "X-Original-"} {
		if values := r.Header[kind+"Uri"]; len(values) > 0 {
			uris, methods = append(uris, values...), append(methods, r.Header[kind+"Method"]...)
		}
	}
	path, ok := soleValue(uris)
	if !ok || !strings.HasPrefix(path, "/") {
		return a
	}
	a.path = path
	if method, ok := soleValue(methods); ok && isMethod(method) {
		a.method, a.reported = method, true
	}
	return a
}

// soleValue returns the value of a header whose values are all the same.
func soleValue(values []string) (value string, ok bool) {
	for _, v := range values {
		if v != values[0] {
			return "", false
		}
		value = v
	}
	return value, len(values) > 0
}

// isMethod reports whether a text can be a request's method (RFC 9110 9.1), of a length that
// fits on the trail.
func isMethod(text string) bool {
	return text != "" && len(text) <= 32 && !strings.ContainsFunc(text, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') &&
			!strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	})
}

// provesVerified returns credentials whose proof is for the call that a proxy asks about (RFC 9449 4.3), where a
// trusted proxy says its method and the whole of its address. Else it is for the question itself, such as of a client
// that asks.
//
// A proxy must set X-Forwarded-Proto and -Host, or take them away: a client that could write them could use a proof
// that it was sent for another host.
func provesVerified(c dpop.Credentials, v *verifiedCall, r *http.Request) dpop.Credentials {
	scheme, one := soleValue(r.Header[headerProto])
	host, only := soleValue(r.Header[headerHost])
	if !v.reported || !one || !only {
		return c
	}
	path, _, _ := strings.Cut(v.path, "?")
	return c.For(v.method, scheme+"://"+host+path)
}
