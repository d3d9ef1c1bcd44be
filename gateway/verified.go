package gateway

import (
	"net/http"
	"net/url"
	"strings"
)

// asked is a call to another service whose proxy asks whether it may pass.
type verifiedCall struct{ product, method, path string }

// productOr is the product that a proxy asks for, or that of the door.
func (e *entry) productOr(product string) string {
	if e.verified != nil {
		return e.verified.product
	}
	return product
}

// productOf reads the product out of a query: the first one, because some proxies put the
// client's own query behind theirs. It is not ok if it cannot be read: what is meant to be
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

// believed is what a proxy asks about, as far as it is to be believed. A proxy says the
// client's path in one of two headers, X-Forwarded-Uri or, of nginx by custom, X-Original-URI,
// and hands on the other as its client sent it. So where both are there and differ, either
// may be the client's invention, and neither is taken; the same goes for two lines of one of
// them. Without a path the question itself is what stands on the trail.
func (g *Gateway) verifiedCallOf(r *http.Request, product string) *verifiedCall {
	a := &verifiedCall{product, r.Method, r.URL.Path}
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
		a.method = method
	}
	return a
}

// theOne returns the value that all values of a header are.
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
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	})
}
