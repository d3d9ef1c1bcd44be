package proxies

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// street is a proxy between clients and a service, with a keystile that it asks.
type street struct {
	kind
	front    string
	keystile *keystile
	service  *recorder
}

// app returns an application that calls from an address where nobody else does.
func (s *street) app(t *testing.T, address string) (*app, client) {
	t.Helper()
	a := s.keystile.register(t)
	return a, client{s.front, address, a.token}
}

func TestServiceBehindAProxy(t *testing.T) {
	binary := build(t)
	withEach(t, func(t *testing.T, k kind) {
		s := &street{kind: k, keystile: serve(t, binary), service: record(t, greet)}
		s.front = k.start(t, s.keystile.address, s.service.address)
		for _, promise := range []struct {
			name string
			test func(*street, *testing.T)
		}{
			{"is told who calls, by Keystile and not by the client", (*street).identity},
			{"gets no call without a good token", (*street).tokens},
			{"gets no call with a revoked token", (*street).revoked},
			{"gets no call over the rate of the application", (*street).rate},
			{"keeps the rate of each client's own address", (*street).addresses},
			{"has each call charged once and to its own product", (*street).charges},
			{"gets no call when Keystile is away", (*street).away}, // the last: it ends Keystile
		} {
			t.Run(promise.name, func(t *testing.T) { promise.test(s, t) })
		}
	})
}

func (s *street) identity(t *testing.T) {
	a, c := s.app(t, "127.0.0.11")
	forged := []string{
		"X-Keystile-Client", "forged", "X-Keystile-User", "forged", "X-Keystile-Scope", "forged", "X-Keystile-Tier", "forged",
		"X-Keystile-Product", "forged",
		"x-keystile-user", "forged", "X-KEYSTILE-USER", "forged", "X-Keystile-User", "forged twice",
		"X.Keystile.User", "forged", "X-Keystile~User", "forged", "X!Keystile!Tier", "forged", "X_Keystile_User", "forged",
		"x_keystile_client", "forged", "X-Keystile_User", "forged", "X_Keystile-Tier", "forged",
	}
	c.get(t, "/forged", forged...).wantPassed(t)
	got := told(s.service.one(t).header)
	want := map[string]string{"X-KEYSTILE-CLIENT": a.id, "X-KEYSTILE-SCOPE": "app", "X-KEYSTILE-TIER": storage.TierFree}
	if !maps.Equal(got, want) {
		t.Errorf("the service is told %q, want %q", got, want)
	}
}

// told returns what a service reads of the caller if it takes every other character for -, as CGI and its heirs do.
// An empty header says nothing.
func told(h http.Header) map[string]string {
	all := map[string]string{}
	for name, values := range h {
		if name = strings.ToUpper(other.ReplaceAllString(name, "-")); strings.Contains(name, "KEYSTILE") &&
			strings.Join(values, "") != "" {
			all[name] += strings.Join(values, ", ")
		}
	}
	return all
}

var other = regexp.MustCompile(`[^A-Za-z0-9-]`)

func (s *street) tokens(t *testing.T) {
	for _, token := range []string{"", "made-up", "a.b.c"} {
		a := client{s.front, "127.0.0.12", token}.get(t, "/")
		a.wantRefused(t, http.StatusUnauthorized, "WWW-Authenticate")
		want := `Bearer`
		if token != "" {
			want = `Bearer error="invalid_token"`
		}
		if got := a.header.Get("WWW-Authenticate"); got != want {
			t.Errorf("with the token %q the challenge is %q, want %q", token, got, want)
		}
	}
	s.service.wantNone(t)
}

func (s *street) revoked(t *testing.T) {
	a, c := s.app(t, "127.0.0.13")
	c.get(t, "/before").wantPassed(t)
	a.revoke(t)
	c.get(t, "/before").wantRefused(t, http.StatusUnauthorized, "WWW-Authenticate")
	if call := s.service.one(t); call.uri != "/before" {
		t.Errorf("the service got %s", call.uri)
	}
}

func (s *street) rate(t *testing.T) {
	_, c := s.app(t, "127.0.0.14")
	for range 59 {
		c.get(t, "/").wantPassed(t)
	}
	for range 3 {
		a := c.get(t, "/over")
		a.wantRefused(t, http.StatusTooManyRequests, "Retry-After", "RateLimit", "RateLimit-Policy")
		if wait, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || wait < 1 || wait > 60 {
			t.Errorf("Retry-After = %q, want 1 to 60 seconds", a.header.Get("Retry-After"))
		}
		if got := a.header.Values("WWW-Authenticate"); len(got) > 0 {
			t.Errorf("a good token is challenged: %q", got)
		}
	}
	if n := len(s.service.take()); n != 59 {
		t.Errorf("the service got %d calls, want 59", n)
	}
}

// Without a token it is the client's address that counts, not the proxy's, and not one
// that the client makes up.
func (s *street) addresses(t *testing.T) {
	for i := range perAddress {
		liar := "203.0.113." + strconv.Itoa(i)
		client{front: s.front, address: "127.0.0.15"}.get(t, "/", "X-Forwarded-For", liar, "X-Real-Ip", liar, "Forwarded",
			"for="+liar).wantRefused(t, http.StatusUnauthorized)
	}
	client{front: s.front, address: "127.0.0.15"}.get(t, "/", "X-Forwarded-For", "203.0.113.99").wantRefused(t,
		http.StatusTooManyRequests, "Retry-After")
	client{front: s.front, address: "127.0.0.16"}.get(t, "/").wantRefused(t, http.StatusUnauthorized)
	s.service.wantNone(t)
}

func (s *street) charges(t *testing.T) {
	a, c := s.app(t, "127.0.0.17")
	uris := []string{"/", "/?product=payment", "/deep/er?a=1&product=nothing&product=identity",
		"/api/v1/verify?product=payment", "/;product=payment?product=%zz&x"}
	for _, uri := range uris {
		c.get(t, uri, "X-Keystile-Product", "payment", "X_Keystile_Product", "payment").wantPassed(t)
	}
	for i, call := range s.service.take() {
		if call.uri != uris[i] {
			t.Errorf("the service got %s, want %s", call.uri, uris[i])
		}
	}
	if got := a.charged(t); !maps.Equal(got, map[string]int64{"ai": int64(len(uris))}) {
		t.Errorf("charged are %v, want ai for each of %d calls", got, len(uris))
	}
	a.revoke(t)
	client{s.front, "127.0.0.17", a.token}.get(t, "/").wantRefused(t, http.StatusUnauthorized)
	s.service.take()
}

func (s *street) away(t *testing.T) {
	a, c := s.app(t, "127.0.0.18")
	c.call(t, "DELETE", "/things/7?code=SECRET", nil, "X-Original-Uri", "/forged", "X-Original-Method", "GET",
		"X-Forwarded-Uri", "/forged", "X-Forwarded-Method", "GET").wantPassed(t)
	s.service.take()
	s.keystile.stop()
	for _, method := range []string{"GET", "POST"} {
		got := c.call(t, method, "/", nil)
		if got.status < 500 {
			t.Errorf("%s without Keystile = %d %s, want a 5xx", method, got.status, got.body)
		}
		if s.retells {
			got.wantRefused(t, http.StatusServiceUnavailable)
		}
	}
	s.service.wantNone(t)

	events := s.keystile.trail(t)
	mine := slices.DeleteFunc(events, func(e event.Event) bool { return e.App != a.id })
	if len(mine) != 1 {
		t.Fatalf("%d calls are on the audit trail, want 1: %+v", len(mine), mine)
	}
	if e := mine[0]; e.Method != "DELETE" || e.Path != "/things/7" || e.Product != "ai" || e.Status != 200 ||
		e.IP != "127.0.0.18" {
		t.Errorf("the audit trail says %+v, want the client's own call", e)
	}
}
