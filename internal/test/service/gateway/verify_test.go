package gateway_test

import (
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// Decision 45.
func TestProxyLearnsWhoCallsInAnyMethod(t *testing.T) {
	h := newFixture(t)
	user := h.userBearer()
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "X-OWN"} {
		for _, path := range []string{"/api/v1/verify", "/api/v1/verify/the/clients/own/path"} {
			a := h.want(h.call(method, path, user, "X-Keystile-User", "forged"), 200, method+" "+path)
			if a.header.Get("X-Keystile-Client") != h.app.ID || a.header.Get("X-Keystile-Scope") == "" ||
				a.header.Get("X-Keystile-Tier") != storage.TierFree || a.header.Get("X-Keystile-User")[0] != 'u' {
				t.Errorf("%s %s: %v", method, path, a.header)
			}
		}
	}
}

// Decision 63: a proxy that copies only what it finds in the answer would leave the
// client's own headers.
func TestProxyIsAnsweredEveryIdentityHeaderAlsoThoseThatAreEmpty(t *testing.T) {
	h := newFixture(t)
	for name, bearer := range map[string]string{"an application": h.bearer(h.app), "a user": h.userBearer()} {
		a := h.want(h.call("GET", "/api/v1/verify", bearer), 200, name)
		for _, header := range []string{gateway.HeaderClient, gateway.HeaderUser, gateway.HeaderScope, gateway.HeaderTier} {
			if got := a.header.Values(header); len(got) != 1 {
				t.Errorf("%s: %s %q, want it once", name, header, got)
			}
		}
		if user := a.header.Get(gateway.HeaderUser); (user != "") != (name == "a user") {
			t.Errorf("%s is told as the user %q", name, user)
		}
	}
}

func TestProxiedCallIsChargedToTheProductItNames(t *testing.T) {
	for name, c := range map[string]struct {
		path    string
		headers []string
		status  int
		product string
		charged int64
	}{
		"none":         {"/api/v1/verify", nil, 200, gateway.ProductAI, 0},
		"in the query": {"/api/v1/verify?product=ai", nil, 200, gateway.ProductAI, 1},
		"in a header, which anybody can send": {"/api/v1/verify", []string{"X-Keystile-Product", "ai"}, 200,
			gateway.ProductAI, 0},
		"in both: the header is not read": {"/api/v1/verify?product=ai", []string{"X-Keystile-Product", "payment"}, 200,
			gateway.ProductAI, 1},
		"empty in the query": {"/api/v1/verify?product=&x=1", []string{"X-Keystile-Product", "ai"}, 200,
			gateway.ProductAI, 0},
		"twice: the operator's comes first": {"/api/v1/verify?product=ai&uri=/x?product=payment&product=%zz", nil, 200,
			gateway.ProductAI, 1},
		"malformed, so that it would be free": {"/api/v1/verify?product=ai;x", nil, 400, gateway.ProductAI, 0},
		"malformed by its encoding":           {"/api/v1/verify?product=%zz", nil, 400, gateway.ProductAI, 0},
		"one that was configured":             {"/api/v1/verify/x?product=search", nil, 200, "search", 1},
		"one that nobody knows":               {"/api/v1/verify?product=nothing", nil, 400, gateway.ProductAI, 0},
		"a mistake":                           {"/api/v1/verify?product=AI", nil, 400, gateway.ProductAI, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t, func(c *gateway.Config) { c.Products = append(c.Products, "search") })
			bearer := h.bearer(h.app)
			h.want(h.call("GET", c.path, bearer, c.headers...), c.status, c.path)
			if got := h.used(bearer, c.product); got != c.charged {
				t.Errorf("%s is charged %d calls, want %d", c.product, got, c.charged)
			}
			if a := h.call("GET", "/api/v1/usage", bearer); a.number("data.totals."+c.product) != c.charged {
				t.Errorf("usage: %s", a.text)
			}
		})
	}
}

// behindProxies makes a gateway that trusts proxies at 10.0.0.0/8.
func behindProxies(c *gateway.Config) {
	c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
}

const trusted = "10.0.0.1:1"

func TestTrailHasTheCallThatATrustedProxyAsksAbout(t *testing.T) {
	long := "/" + strings.Repeat("长", 100)
	for name, c := range map[string]struct {
		headers      []string
		method, path string
	}{
		"Caddy, Traefik, Envoy": {[]string{"X-Forwarded-Method", "DELETE", "X-Forwarded-Uri",
			"/things/7?token=SECRET"}, "DELETE", "/things/7"},
		"nginx": {[]string{"X-Original-Method", "PUT", "X-Original-Uri", "/pay#SECRET"}, "PUT",
			"/pay"},
		"a path without its method": {[]string{"X-Forwarded-Uri", "/x"}, "PATCH", "/x"},
		"nothing":                   {nil, "PATCH", "/api/v1/verify/own"},
		"a method without its path": {[]string{"X-Forwarded-Method", "DELETE"}, "PATCH", "/api/v1/verify/own"},
		"both, and both the same": {[]string{"X-Forwarded-Method", "GET", "X-Forwarded-Uri", "/x?a=1", "X-Original-Uri",
			"/x?a=1"}, "GET", "/x"},
		"both, and one is the client's": {[]string{"X-Forwarded-Method", "GET", "X-Forwarded-Uri", "/forged",
			"X-Original-Uri", "/x"}, "PATCH", "/api/v1/verify/own"},
		"the same, and not the method": {[]string{"X-Forwarded-Method", "GET", "X-Forwarded-Uri", "/x", "X-Original-Uri",
			"/x", "X-Original-Method", "PUT"}, "PATCH", "/x"},
		"twice": {[]string{"X-Forwarded-Uri", "/forged", "X-Forwarded-Uri", "/x"}, "PATCH",
			"/api/v1/verify/own"},
		"the method of the other kind": {[]string{"X-Original-Uri", "/x", "X-Forwarded-Method", "DELETE"}, "PATCH", "/x"},
		"no path": {[]string{"X-Forwarded-Uri", "https://user:SECRET@host/x"}, "PATCH",
			"/api/v1/verify/own"},
		"no method": {[]string{"X-Forwarded-Uri", "/x", "X-Forwarded-Method", "GET /y\u0085"}, "PATCH",
			"/x"},
		"a method of any length": {[]string{"X-Forwarded-Uri", "/x", "X-Forwarded-Method", strings.Repeat("A", 33)},
			"PATCH", "/x"},
		"a path of any length": {[]string{"X-Forwarded-Uri", long}, "PATCH", "/" + strings.Repeat("长", 84) + "…"},
		"a path that steers a terminal": {[]string{"X-Forwarded-Uri", "/a\tb\u0085c\u202ed\u2028e\xfff%0a"}, "PATCH",
			"/abcdef%0a"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t, behindProxies)
			h.want(h.call("PATCH", "/api/v1/verify/own?product=ai", h.userBearer(),
				append(c.headers, "X-Request-Id", "id-1", "from", trusted)...), 200, "a call")
			events := h.trail()
			if len(events) != 1 {
				t.Fatalf("%d events: %v", len(events), events)
			}
			if e := events[0]; e.Method != c.method || e.Path != c.path || e.Product != "ai" || e.Status != 200 ||
				e.App != h.app.ID || e.RequestID != "id-1" {
				t.Errorf("%+v, want %s %s", e, c.method, c.path)
			}
		})
	}
}

// Anybody may ask at the verify path. The call that they describe is their word only.
func TestCallThatAnUntrustedProxyAsksAboutIsNotOnTheTrail(t *testing.T) {
	forged := []string{"X-Forwarded-Method", "DELETE", "X-Forwarded-Uri", "/forged", "X-Forwarded-Host", "forged.example",
		"X-Original-Uri", "/forged", "X-Original-Method", "PUT"}
	for name, c := range map[string]struct {
		edit func(*gateway.Config)
		from string
	}{
		"nobody is trusted":   {func(*gateway.Config) {}, trusted},
		"others are trusted":  {behindProxies, "203.0.113.9:1"},
		"a name for the peer": {behindProxies, "@"},
		"an own ClientIP": {func(c *gateway.Config) {
			c.ClientIP = func(*http.Request) netip.Addr { return netip.MustParseAddr("10.0.0.1") }
		}, trusted},
	} {
		h := newFixture(t, c.edit)
		h.want(h.call("GET", "/api/v1/verify/x", h.userBearer(), append(forged, "from", c.from)...), 200, name)
		if events := h.trail(); len(events) != 1 || events[0].Method != "GET" || events[0].Path != "/api/v1/verify/x" {
			t.Errorf("%s: %+v", name, events)
		}
	}
}

// A proxy that is trusted to report the client's call is trusted to report its address too.
func TestTrustedProxiesReportTheAddressToo(t *testing.T) {
	h := newFixture(t, behindProxies)
	user := h.userBearer()
	h.call("GET", "/ai/200", user, "X-Forwarded-For", "198.51.100.1", "from", trusted)
	h.call("GET", "/ai/200", user, "X-Forwarded-For", "198.51.100.1", "from", "203.0.113.9:1")
	if events := h.trail(); len(events) != 2 || events[0].IP != "198.51.100.1" || events[1].IP != "203.0.113.9" {
		t.Errorf("%+v", events)
	}
}

func TestPathOnTheTrailIsShortAndPlain(t *testing.T) {
	h := newFixture(t)
	h.call("GET", "/ai/%1b%5b2J%0a%E2%80%AE"+strings.Repeat("x", 300), h.userBearer())
	want := "/ai/[2J" + strings.Repeat("x", 246) + "…"
	if events := h.trail(); len(events) != 1 || events[0].Path != want {
		t.Errorf("%+v, want %s", events, want)
	}
}

// Decision 32.
func TestCallIsOnTheAuditTrail(t *testing.T) {
	h := newFixture(t)
	user := h.userBearer()
	h.call("POST", "/ai/201?code=SECRET", user, "from", "203.0.113.9:1", "X-Request-Id", "id-1")
	h.call("GET", "/ai/200", "")
	h.call("GET", "/api/v1/quota", user)
	h.call("GET", "/oauth/userinfo", user)
	func() {
		defer func() { recover() }()
		h.handler.ServeHTTP(nil, h.request("GET", "/ai/200", user, nil)) // a connection that breaks at the first byte
	}()
	h.mux.Handle("/broken/", h.gateway.Guard("broken",
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })))
	func() {
		defer func() { recover() }()
		h.call("GET", "/broken/x", user)
	}()
	events := h.trail()
	var lines []event.Event
	for _, e := range events {
		if e.Kind != event.Call || e.At.IsZero() || e.Latency < 0 {
			t.Errorf("%+v", e)
		}
		lines = append(lines, event.Event{Product: e.Product, Method: e.Method, Path: e.Path, Status: e.Status})
	}
	want := []event.Event{
		{Product: "ai", Method: "POST", Path: "/ai/201", Status: 201},
		{Product: "ai", Method: "GET", Path: "/ai/200", Status: 401},
		{Method: "GET", Path: "/api/v1/quota", Status: 200},
		{Product: "identity", Method: "GET", Path: "/oauth/userinfo", Status: 200},
		{Product: "broken", Method: "GET", Path: "/broken/x"},
	}
	if len(lines) != len(want) {
		t.Fatalf("%d events: %+v", len(lines), lines)
	}
	for i := range want {
		if !reflect.DeepEqual(lines[i], want[i]) {
			t.Errorf("event %d: %+v, want %+v", i, lines[i], want[i])
		}
	}
	if e := events[0]; e.IP != "203.0.113.9" || e.RequestID != "id-1" || e.App != h.app.ID || e.User == "" ||
		e.Bytes == 0 {
		t.Errorf("%+v", e)
	}
	if e := events[1]; e.App != "" || e.User != "" || e.RequestID == "" {
		t.Errorf("%+v", e)
	}
}
