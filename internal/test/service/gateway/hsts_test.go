package gateway_test

import (
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/keystile/keystile/gateway"
)

const year = "max-age=31536000"

func secure(c *gateway.Config) { c.HSTS, c.CORS = true, gateway.CORS{Open: []string{"/api/v1/"}} }

func TestAnswerOfASecureServiceHasHSTS(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*gateway.Config)
		want []string
	}{"secure": {secure, []string{year}},
		"not": {func(c *gateway.Config) { c.CORS = gateway.CORS{Open: []string{"/api/v1/"}} }, nil}} {
		h := newFixture(t, c.edit)
		user := behind(t, h, func(http.ResponseWriter, *http.Request) {},
			func(u *gateway.Upstream) { u.URL = "http://127.0.0.1:1" })
		for what, a := range map[string]answer{
			"a page":              h.call("GET", "/.well-known/openid-configuration", ""),
			"a path that is free": h.call("GET", "/healthz/live", ""),
			"a preflight": h.call("OPTIONS", "/api/v1/quota", "", "Origin", "https://any.example",
				"Access-Control-Request-Method", "GET"),
			"a refusal": h.call("GET", "/ai/200", ""), "a service": h.call("GET", "/ai/200", user),
			"a service that is away": h.call("GET", "/svc/x", user),
			"what nobody knows":      h.call("GET", "/nothing", ""),
		} {
			if got := a.header.Values("Strict-Transport-Security"); !slices.Equal(got, c.want) {
				t.Errorf("%s, %s: %d %q, want %q", name, what, a.status, got, c.want)
			}
		}
	}
}

// A browser keeps the header for the whole host: a service of it could switch off what
// protects the sign-in beside it.
func TestServiceCannotSetHSTS(t *testing.T) {
	for name, c := range map[string]struct {
		edit      func(*gateway.Config)
		announced bool
		want      []string
	}{
		"a secure host":            {secure, false, []string{year}},
		"a secure host, announced": {secure, true, []string{year}},
		"a host that says nothing": {func(*gateway.Config) {}, false, []string{"max-age=0"}},
	} {
		h := newFixture(t, c.edit)
		user := behind(t, h, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Strict-Transport-Security", "max-age=0")
			if c.announced {
				w.WriteHeader(103)
			}
			io.WriteString(w, "answer")
			w.Header().Set(http.TrailerPrefix+"Strict-Transport-Security", "max-age=0")
		})
		resp := call(t, "GET", h.open().URL+"/svc/x", user, nil)
		io.Copy(io.Discard, resp.Body)
		if got := resp.Header.Values("Strict-Transport-Security"); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := resp.Trailer.Values("Strict-Transport-Security"); len(got) > 0 && c.want[0] == year {
			t.Errorf("%s: a trailer says %q", name, got)
		}
	}
}

func TestUnchargedAnswerHasHSTS(t *testing.T) {
	h := newFixture(t, secure,
		func(c *gateway.Config) { c.Store, c.Tokens = nameless{c.Store, c.Tokens}, nameless{c.Store, c.Tokens} })
	behind(t, h, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "answer") })
	if a := h.want(h.call("GET", "/svc/x", "any"), 503, "a call"); a.header.Get("Strict-Transport-Security") != year {
		t.Errorf("%v", a.header)
	}
}
