package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/test/forgery"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
)

// endpoints are those that accept a bearer token.
var endpoints = []string{
	"/api/v1/quota", "/api/v1/usage", "/api/v1/billing/plans", "/api/v1/verify", "/api/v1/verify/any/path",
	"/api/v1/verify?product=ai",
	"/ai/200", "/oauth/userinfo", "/oauth/userinfo.php", "/proxied/x",
}

// newEndpoints makes a fixture with all endpoints, and rates that no test here reaches.
func newEndpoints(t testing.TB) *fixture {
	h := newFixture(t, func(c *gateway.Config) { c.PerAddress = counters.Unlimited })
	proxied := must(h.gateway.Proxy(gateway.Upstream{Product: "proxied", URL: "http://192.0.2.1:9"}))(t) // nobody is there
	h.mux.Handle("/proxied/", proxied)
	return h
}

func TestForgedTokensAreRefusedByEveryEndpoint(t *testing.T) {
	h := newEndpoints(t)
	forged := forgery.All(t, h.service("ustranger"))
	if len(forged) < 40 {
		t.Fatalf("%d forgeries, want at least 40", len(forged))
	}
	for _, f := range forged {
		for _, endpoint := range endpoints {
			if a := h.call("GET", endpoint, f.Token); a.status != 401 || a.number("errcode") != 401 || a.number("code") != 401 {
				t.Errorf("%s: %s = %d %s, want 401", f.Name, endpoint, a.status, a.text)
			}
		}
	}
}

func TestBearerThatIsInvalidIsExplainedByEveryEndpoint(t *testing.T) {
	for _, endpoint := range endpoints {
		synctest.Test(t, func(t *testing.T) {
			h := newEndpoints(t)
			check := func(what, bearer, challenge string, headers ...string) {
				t.Helper()
				a := h.want(h.call("GET", endpoint, bearer, headers...), 401, what+" at "+endpoint)
				if got := a.header.Get("WWW-Authenticate"); got != challenge {
					t.Errorf("%s at %s: WWW-Authenticate: %s, want %s", what, endpoint, got, challenge)
				}
				if a.header.Get("Cache-Control") != "no-store" || a.body["msg"] == "" {
					t.Errorf("%s at %s: %v %s", what, endpoint, a.header, a.text)
				}
			}
			const invalid = `Bearer error="invalid_token"`
			check("no token", "", "Bearer")
			inQuery := "?access_token=" + h.bearer(h.app)
			if strings.Contains(endpoint, "?") {
				inQuery = strings.Replace(inQuery, "?", "&", 1)
			}
			h.want(h.call("GET", endpoint+inQuery, ""), 401, "a token in the query of "+endpoint)
			check("Basic", "", "Bearer", "Authorization", "Basic dTpw")
			check("two headers", h.bearer(h.app), invalid, "Authorization", "Bearer x")
			check("an appkey", h.app.AppKey().Reveal(), invalid)
			check("a client id", h.app.ID, invalid)
			check("a token for another audience", h.bearer(h.app, "resource", elsewhere), invalid)

			bearer := h.bearer(h.app)
			time.Sleep(168*time.Hour - time.Second)
			if a := h.call("GET", endpoint, bearer); a.status == 401 && !strings.Contains(endpoint, "userinfo") {
				t.Errorf("a second before it expires, %s = 401", endpoint)
			}
			time.Sleep(time.Second)
			check("an expired token", bearer, invalid)

			bearer = h.bearer(h.app)
			h.post("/oauth/revoke", "", machine(h.app, "token", bearer))
			check("a revoked token", bearer, invalid)
		})
	}
}

func TestTokenForAnotherAudienceStillHasItsApplicationsRate(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app, "resource", elsewhere)
	for range 60 {
		h.want(h.call("GET", "/.well-known/openid-configuration", bearer), 200, "within the rate")
	}
	h.want(h.call("GET", "/.well-known/openid-configuration", bearer), 429, "over it")
	h.want(h.call("GET", "/.well-known/openid-configuration", ""), 200, "the address has its own")
}

// Protocol 5: one key across services.
func TestTokenIsAcceptedByEveryService(t *testing.T) {
	h := newFixture(t)
	h.mux.Handle("/payment/", h.gateway.Guard(gateway.ProductPayment, http.HandlerFunc(service)))
	h.mux.Handle("/files/", h.gateway.Guard(gateway.ProductStorage, http.HandlerFunc(service)))
	machine, user := h.bearer(h.app), h.userBearer()
	for _, endpoint := range []string{"/ai/200", "/payment/x", "/files/x"} {
		if a := h.want(h.call("POST", endpoint, machine), 200, endpoint); a.body["client_id"] != h.app.ID ||
			a.body["sub"] != "" || a.body["known"] != true {
			t.Errorf("%s sees %s", endpoint, a.text)
		}
		if a := h.want(h.call("POST", endpoint, user), 200, endpoint); a.body["client_id"] != h.app.ID ||
			!strings.HasPrefix(a.body["sub"].(string), "u") {
			t.Errorf("%s sees %s", endpoint, a.text)
		}
	}
	for _, product := range []string{gateway.ProductAI, gateway.ProductPayment, gateway.ProductStorage} {
		if got := h.used(machine, product); got != 2 {
			t.Errorf("%s is charged %d calls, want 2 on the one ledger", product, got)
		}
	}
}

// No timing: what needed the store would wait for ever.
func TestCallThatWasSeenBeforeNeedsNoStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		bearer := h.bearer(h.app)
		h.want(h.call("GET", "/ai/200", bearer), 200, "the first call")
		hang := make(chan struct{})
		h.backend.set(hang, nil)
		h.want(h.call("GET", "/ai/200", bearer), 200, "a call while the store hangs")
		time.Sleep(time.Hour) // what is known of the application is old by now
		h.want(h.call("GET", "/ai/200", bearer), 200, "a call an hour later")
		synctest.Wait()
		before := h.backend.reads
		for range 10 {
			h.want(h.call("GET", "/ai/200", bearer), 200, "and another")
		}
		if synctest.Wait(); h.backend.reads != before {
			t.Errorf("%d reads wait for the one answer", 1+h.backend.reads-before)
		}
		h.backend.set(nil, nil)
		close(hang)
	})
}

func TestUnknownApplicationWhileTheStoreIsAwayIsTroubleNotForgery(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	h.backend.set(nil, errors.New("away"))
	for _, endpoint := range []string{"/ai/200", "/api/v1/quota", "/api/v1/verify"} {
		a := h.want(h.call("GET", endpoint, bearer), 503, endpoint)
		if a.header.Get("Retry-After") == "" || a.number("errcode") != 503 {
			t.Errorf("%s: %v %s", endpoint, a.header, a.text)
		}
	}
	h.backend.set(nil, nil)
	h.want(h.call("GET", "/ai/200", bearer), 200, "once the store is back")
}

func TestErrorOfTheVerifierIsA500(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.Tokens = undecided{c.Tokens} })
	a := h.want(h.call("GET", "/ai/200", h.bearer(h.app)), 500, "a verifier's own error")
	if strings.Contains(a.text, "inner reason") {
		t.Errorf("the answer tells %s", a.text)
	}
}

type undecided struct{ gateway.Tokens }

func (undecided) Verify(context.Context, string, ...string) (storage.Caller, error) {
	return storage.Caller{}, errors.New("inner reason")
}

func TestMethodsAndPathsThatAreNotThere(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	for _, path := range []string{"/api/v1/quota", "/api/v1/usage", "/api/v1/billing/plans"} {
		a := h.want(h.call("POST", path, bearer), 405, "POST "+path)
		if a.header.Get("Allow") != "GET, HEAD" || a.number("errcode") != 405 {
			t.Errorf("%s: Allow %q, %s", path, a.header.Get("Allow"), a.text)
		}
		h.want(h.call("HEAD", path, bearer), 200, "HEAD "+path)
	}
	for _, path := range []string{"/api/v1/", "/api/v1/nothing", "/api/v1/quota/", "/api/v1//quota",
		"/api/v1/../v1/quota"} {
		if a := h.call("GET", path, bearer); a.status != 404 && a.status != 301 && a.status != 307 {
			t.Errorf("%s = %d %s", path, a.status, a.text)
		}
	}
}
