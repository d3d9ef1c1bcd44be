package gateway_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/storage"
)

// Decision 25.
func TestRateHoldsInEveryMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		bearer := h.bearer(h.app)
		var admitted []time.Time
		for range 400 { // about three a second: 180 a minute
			if a := h.call("GET", "/ai/200", bearer); a.status == 200 {
				admitted = append(admitted, time.Now())
			} else if a.status != 429 {
				t.Fatalf("status %d %s", a.status, a.text)
			}
			time.Sleep(337 * time.Millisecond)
		}
		for i := 60; i < len(admitted); i++ {
			if span := admitted[i].Sub(admitted[i-60]); span < time.Minute {
				t.Fatalf("61 requests within %v", span)
			}
		}
		if len(admitted) < 120 {
			t.Errorf("%d admitted of 180 possible in 2 minutes and a bit", len(admitted))
		}
	})
}

func TestOf200ParallelRequestsTheRateIsAdmitted(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	var admitted, refused atomic.Int64
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			switch a := h.call("GET", "/ai/200", bearer); a.status {
			case 200:
				admitted.Add(1)
			case 429:
				refused.Add(1)
			}
		})
	}
	all.Wait()
	if admitted.Load() != 60 || refused.Load() != 140 {
		t.Errorf("%d admitted, %d refused; want 60 and 140", admitted.Load(), refused.Load())
	}
}

func TestRequestAfterRetryAfterIsAdmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		bearer := h.bearer(h.app)
		for i := range 60 {
			h.want(h.call("GET", "/ai/200", bearer), 200, "within the rate")
			time.Sleep(time.Duration(i) * time.Millisecond)
		}
		for range 5 {
			a := h.call("GET", "/ai/200", bearer)
			for a.status == 200 { // a whole second frees several
				a = h.call("GET", "/ai/200", bearer)
			}
			h.want(a, 429, "over the rate")
			wait, err := strconv.Atoi(a.header.Get("Retry-After"))
			if err != nil || wait < 1 {
				t.Fatalf("Retry-After: %q", a.header.Get("Retry-After"))
			}
			if got := a.header.Get("RateLimit"); got != `"default";r=0;t=`+strconv.Itoa(wait) || a.header.Get("RateLimit-Policy") != `"default";q=60;w=60` {
				t.Errorf("RateLimit: %s, RateLimit-Policy: %s", got, a.header.Get("RateLimit-Policy"))
			}
			time.Sleep(time.Duration(wait) * time.Second)
			h.want(h.call("GET", "/ai/200", bearer), 200, "after Retry-After")
		}
	})
}

// Decision 24.
func TestAddressWithoutATokenHasItsRate(t *testing.T) {
	for name, c := range map[string]struct {
		from  func(i int) string
		extra []string
		path  string
		last  int
	}{
		"one address": {func(int) string { return "203.0.113.7:1" }, nil,
			"/.well-known/openid-configuration", 429},
		"another port": {func(i int) string { return "203.0.113.7:" + strconv.Itoa(1+i) }, nil,
			"/.well-known/openid-configuration", 429},
		"many addresses": {func(i int) string { return "203.0.113." + strconv.Itoa(i) + ":1" }, nil,
			"/.well-known/openid-configuration", 200},
		"one IPv6 network": {func(i int) string { return "[2001:db8::" + strconv.Itoa(i) + "]:1" }, nil,
			"/.well-known/openid-configuration", 429},
		"two IPv6 networks": {func(i int) string { return "[2001:db8:0:" + strconv.Itoa(i%2) + "::1]:1" },
			nil, "/.well-known/openid-configuration", 200},
		"a header that lies": {func(int) string { return "203.0.113.7:1" },
			[]string{"X-Forwarded-For", "198.51.100.1"}, "/.well-known/openid-configuration", 429},
		"health":                   {func(int) string { return "203.0.113.7:1" }, nil, "/healthz/live", 200},
		"a path that is not there": {func(int) string { return "203.0.113.7:1" }, nil, "/nothing", 429},
		"a token that is none": {func(int) string { return "203.0.113.7:1" },
			[]string{"Authorization", "Bearer none"}, "/ai/200", 429},
		"what looks like a preflight by GET": {func(int) string { return "203.0.113.7:1" },
			[]string{"Origin", "https://a.example", "Access-Control-Request-Method", "GET"}, "/oauth/jwks", 429},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			for i := range 61 {
				headers := append([]string{"from", c.from(i)}, c.extra...)
				if name == "a header that lies" {
					headers[3] = "198.51.100." + strconv.Itoa(i)
				}
				a := h.call("GET", c.path, "", headers...)
				if i < 60 && a.status == 429 {
					t.Fatalf("request %d is refused", i+1)
				}
				if i == 60 && a.status != c.last {
					t.Errorf("request 61 = %d %s, want %d", a.status, a.text, c.last)
				}
			}
		})
	}
}

func TestBrowserIsRefusedWithAPage(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.PerAddress = 1 })
	h.call("GET", "/oauth/authorize", "")
	a := h.want(h.call("GET", "/oauth/authorize", "", "Accept", "text/html,*/*;q=0.8"), 429, "a browser")
	if !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") || a.header.Get("Retry-After") == "" {
		t.Errorf("%s, Retry-After %q", a.header.Get("Content-Type"), a.header.Get("Retry-After"))
	}
	a = h.want(h.call("POST", "/oauth/token", "", "Accept", "text/html"), 429, "a program")
	if a.number("errcode") != 429 || a.number("code") != 429 {
		t.Errorf("answered %s", a.text)
	}
}

func TestTokenRequestCountsForTheApplicationThatProvesItself(t *testing.T) {
	h := newFixture(t)
	for i := range 600 { // the rate of white_label, ten times that of an address
		h.want(h.post("/oauth/token", "", machine(h.other)), 200, "token request "+strconv.Itoa(i+1))
	}
	a := h.want(h.post("/oauth/token", "", machine(h.other)), 429, "request 601")
	if a.header.Get("RateLimit-Policy") != `"default";q=600;w=60` || a.number("errcode") != 429 {
		t.Errorf("refused with %v %s", a.header, a.text)
	}
	h.want(h.post("/oauth/revoke", "", url.Values{"client_id": {h.other.ID}, "client_secret": {h.other.AppKey().Reveal()},
		"token": {"x"}}), 429, "revoke counts with it")
	h.want(h.call("GET", "/ai/200", h.bearer(h.other)), 429, "and so do calls")
	h.want(h.call("GET", "/.well-known/openid-configuration", ""), 200, "the address itself has all its rate")
}

func TestRateOfUnprovenCallersCountsForTheAddress(t *testing.T) {
	public := storage.App{Name: "Phone", Domains: []string{"localhost"}, Public: true}
	for name, form := range map[string]func(*fixture) url.Values{
		"a wrong secret": func(h *fixture) url.Values { return machine(h.app, "client_secret", "wrong") },
		"a public client": func(h *fixture) url.Values {
			app := must(h.store.SaveApp(t.Context(), public))(t)
			return url.Values{"grant_type": {"refresh_token"}, "client_id": {app.ID}, "refresh_token": {"rt_x"}}
		},
		"nothing at all": func(*fixture) url.Values { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t, func(c *gateway.Config) { c.PerAddress = 5 })
			sent := form(h)
			for range 5 {
				if a := h.post("/oauth/token", "", sent); a.status == 429 || a.status == 200 {
					t.Fatalf("within the rate: %d %s", a.status, a.text)
				}
			}
			h.want(h.post("/oauth/token", "", sent), 429, "request 6")
			h.want(h.post("/oauth/token", "", machine(h.app)), 429, "the right secret comes too late")
			h.want(h.post("/oauth/token", "198.51.100.1:1", machine(h.app)), 200, "from elsewhere")
		})
	}
}

func TestRequestCountsOnce(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	for range 59 { // Front, Meter and userinfo each look at the token
		h.want(h.call("GET", "/oauth/userinfo", bearer), 401, "userinfo for an application")
	}
	h.want(h.call("GET", "/api/v1/quota", bearer), 200, "request 60")
	h.want(h.call("GET", "/api/v1/quota", bearer), 429, "request 61")
}

func TestGuardKeepsTheRateWithoutFront(t *testing.T) {
	h := newFixture(t)
	h.handler = h.mux
	bearer := h.bearer(h.app)
	for range 60 {
		h.want(h.call("GET", "/ai/200", bearer), 200, "within the rate")
	}
	h.want(h.call("GET", "/ai/200", bearer), 429, "over the rate")
	for range 60 {
		h.want(h.call("GET", "/ai/200", ""), 401, "without a token")
	}
	h.want(h.call("GET", "/ai/200", ""), 429, "over the address's rate")
}

func TestRateIsTheApplicationsAndNobodyElses(t *testing.T) {
	h := newFixture(t)
	first, again := h.bearer(h.app), h.bearer(h.app)
	for range 60 {
		h.want(h.call("GET", "/ai/200", first), 200, "within the rate")
	}
	h.want(h.call("GET", "/ai/200", again), 429, "another token of the same application")
	h.want(h.call("GET", "/ai/200", h.bearer(h.other)), 200, "another application")
	alike := must(h.store.SaveApp(t.Context(), storage.App{Name: "Alike", Domains: []string{"alike.example.com"}}))(t)
	a := h.want(h.call("GET", "/api/v1/quota", h.bearer(alike)), 200, "another application of the same tier")
	if a.header.Get("RateLimit") != `"default";r=59;t=60` {
		t.Errorf("RateLimit: %s", a.header.Get("RateLimit"))
	}
	if got := h.used(h.bearer(h.other), gateway.ProductAI); got != 1 {
		t.Errorf("the other application is charged %d calls, want 1", got)
	}
}

func TestNewTierTakesEffectAtOnceAfterForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		bearer := h.bearer(h.app)
		for range 60 {
			h.want(h.call("GET", "/ai/200", bearer), 200, "within the rate")
		}
		h.app.Tier = storage.TierEnterprise
		h.app = must(h.store.SaveApp(t.Context(), h.app))(t)
		h.want(h.call("GET", "/ai/200", bearer), 429, "before it is told")
		h.gateway.Forget(h.app.ID)
		h.want(h.call("GET", "/ai/200", bearer), 200, "once it is told")

		h.app.Tier = storage.TierFree
		h.app = must(h.store.SaveApp(t.Context(), h.app))(t)
		time.Sleep(5 * time.Second)
		h.call("GET", "/ai/200", bearer) // the last with what is known; meanwhile it is read again
		synctest.Wait()
		h.want(h.call("GET", "/ai/200", bearer), 429, "another process's change, five seconds later")

		time.Sleep(time.Hour)
		if err := h.store.DeleteApp(t.Context(), h.app, storage.Quota{}); err != nil {
			t.Fatal(err)
		}
		h.call("GET", "/ai/200", bearer)
		synctest.Wait()
		h.want(h.call("GET", "/ai/200", bearer), 401, "another process has removed it")
	})
}

func TestRateHeadersAreAbsentWithoutARate(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.Plans = unlimited() })
	a := h.want(h.call("GET", "/api/v1/quota", h.bearer(h.app)), 200, "quota")
	if a.header.Get("RateLimit") != "" || a.header.Get("RateLimit-Policy") != "" {
		t.Errorf("%v", a.header)
	}
}

func TestApplicationThatIsDisabledOrGoneIsRefused(t *testing.T) {
	for name, end := range map[string]func(*fixture) error{
		"disabled": func(h *fixture) error {
			h.app.Disabled = true
			_, err := h.store.SaveApp(t.Context(), h.app)
			return err
		},
		"gone": func(h *fixture) error { return h.store.DeleteApp(t.Context(), h.app, storage.Quota{}) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			bearer := h.bearer(h.app)
			h.want(h.call("GET", "/ai/200", bearer), 200, "before")
			if err := end(h); err != nil {
				t.Fatal(err)
			}
			h.gateway.Forget(h.app.ID)
			a := h.want(h.call("GET", "/ai/200", bearer), 401, "afterwards")
			if a.header.Get("WWW-Authenticate") != `Bearer error="invalid_token"` {
				t.Errorf("WWW-Authenticate: %s", a.header.Get("WWW-Authenticate"))
			}
		})
	}
}

func TestRefusalSpeaksAsItsPathDoes(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) {
		c.PerAddress = 1
		own := func(words string) func(http.ResponseWriter, *http.Request, int, string) {
			return func(w http.ResponseWriter, _ *http.Request, status int, msg string) {
				w.WriteHeader(status)
				fmt.Fprint(w, words, ": ", msg)
			}
		}
		c.ErrorWriters = map[string]func(http.ResponseWriter, *http.Request, int, string){"/api/mcp": own("own words"),
			"/api/mcp/": own("words below"), "/api/mcp/b/": own("words of b")}
	})
	h.call("POST", "/api/mcp", "")
	a := h.want(h.call("POST", "/api/mcp", ""), 429, "over the rate")
	if !strings.HasPrefix(a.text, "own words: too many") || a.header.Get("Retry-After") == "" ||
		a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%v %s", a.header, a.text)
	}
	for path, want := range map[string]string{"/api/mcp/x": "words below: too many",
		"/api/mcp/b/x": "words of b: too many"} {
		if a := h.call("POST", path, ""); !strings.HasPrefix(a.text, want) {
			t.Errorf("%s: %s", path, a.text)
		}
	}
	for _, path := range []string{"/api/v1/quota", "/api/mcpx"} {
		if a := h.call("POST", path, ""); a.number("errcode") != 429 {
			t.Errorf("another path: %s", a.text)
		}
	}
}

func TestServiceMayChargeByItself(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	caller := must(h.tokens.Verify(t.Context(), bearer))(t)
	if err := h.gateway.Charge(caller, gateway.ProductMCP, "", 0, true); err != nil {
		t.Fatal(err)
	}
	if got := h.used(bearer, gateway.ProductMCP); got != 1 {
		t.Errorf("charged %d, want 1", got)
	}
	h.gateway.Close(t.Context())
	if err := h.gateway.Charge(caller, gateway.ProductMCP, "", 0, false); err == nil || h.gateway.Stats().Uncounted != 1 ||
		h.gateway.Stats().Charged != 1 {
		t.Errorf("Charge() of a closed gateway = %v, %+v", err, h.gateway.Stats())
	}
}
