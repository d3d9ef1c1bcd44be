package gateway_test

import (
	"net/http"
	"testing"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/storage"
)

// Entry 45 of the decisions.
func TestAProxyLearnsWhoCallsInAnyMethod(t *testing.T) {
	h := newHouse(t)
	user := h.userBearer()
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND", "X-OWN"} {
		for _, path := range []string{"/api/v1/verify", "/api/v1/verify/the/clients/own/path"} {
			a := h.want(h.ask(method, path, user, "X-Keystile-User", "forged"), 200, method+" "+path)
			if a.header.Get("X-Keystile-Client") != h.app.ID || a.header.Get("X-Keystile-Scope") == "" || a.header.Get("X-Keystile-Tier") != storage.TierFree || a.header.Get("X-Keystile-User")[0] != 'u' {
				t.Errorf("%s %s: %v", method, path, a.header)
			}
		}
	}
	a := h.want(h.ask("GET", "/api/v1/verify", h.bearer(h.app)), 200, "an application")
	if got := a.header.Values("X-Keystile-User"); len(got) != 0 {
		t.Errorf("an application is told as user %q", got)
	}
}

func TestAProxiedCallIsChargedToTheProductItNames(t *testing.T) {
	for name, c := range map[string]struct {
		path    string
		headers []string
		status  int
		product string
		charged int64
	}{
		"none":                                 {"/api/v1/verify", nil, 200, gateway.AI, 0},
		"in the query":                         {"/api/v1/verify?product=ai", nil, 200, gateway.AI, 1},
		"in the header":                        {"/api/v1/verify", []string{"X-Keystile-Product", "ai"}, 200, gateway.AI, 1},
		"in both: the query is the operator's": {"/api/v1/verify?product=ai", []string{"X-Keystile-Product", "payment"}, 200, gateway.AI, 1},
		"one that was configured":              {"/api/v1/verify/x?product=search", nil, 200, "search", 1},
		"one that nobody knows":                {"/api/v1/verify?product=nothing", nil, 400, gateway.AI, 0},
		"a mistake":                            {"/api/v1/verify?product=AI", nil, 400, gateway.AI, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t, func(c *gateway.Config) { c.Products = []string{"search"} })
			bearer := h.bearer(h.app)
			h.want(h.ask("GET", c.path, bearer, c.headers...), c.status, c.path)
			if got := h.used(bearer, c.product); got != c.charged {
				t.Errorf("%s is charged %d calls, want %d", c.product, got, c.charged)
			}
			if a := h.ask("GET", "/api/v1/usage", bearer); a.number("data.totals."+c.product) != c.charged {
				t.Errorf("usage: %s", a.text)
			}
		})
	}
}

func TestTheTrailSaysWhatTheProxyAskedAbout(t *testing.T) {
	h := newHouse(t)
	user := h.userBearer()
	h.ask("GET", "/api/v1/verify?product=ai", user, "X-Forwarded-Method", "DELETE", "X-Forwarded-Uri", "/things/7?token=SECRET", "X-Request-Id", "id-1")
	h.ask("GET", "/api/v1/verify?product=payment", user, "X-Original-Method", "PUT", "X-Original-Uri", "/pay")
	h.ask("PATCH", "/api/v1/verify/own/path", user)
	events := h.trail()
	if len(events) != 3 {
		t.Fatalf("%d events: %v", len(events), events)
	}
	for i, want := range []storage.Event{
		{Method: "DELETE", Path: "/things/7", Product: "ai"}, {Method: "PUT", Path: "/pay", Product: "payment"}, {Method: "PATCH", Path: "/api/v1/verify/own/path"},
	} {
		if e := events[i]; e.Method != want.Method || e.Path != want.Path || e.Product != want.Product || e.Status != 200 || e.App != h.app.ID {
			t.Errorf("event %d: %+v, want %+v", i, e, want)
		}
	}
	if events[0].RequestID != "id-1" {
		t.Errorf("request id %q", events[0].RequestID)
	}
}

// Entry 32 of the decisions.
func TestEachCallIsOnTheAuditTrail(t *testing.T) {
	h := newHouse(t)
	user := h.userBearer()
	h.ask("POST", "/ai/201?code=SECRET", user, "from", "203.0.113.9:1", "X-Request-Id", "id-1")
	h.ask("GET", "/ai/200", "")
	h.ask("GET", "/api/v1/quota", user)
	h.ask("GET", "/oauth/userinfo", user)
	func() {
		defer func() { recover() }()
		h.handler.ServeHTTP(nil, h.request("GET", "/ai/200", user, nil)) // a connection that breaks at the first byte
	}()
	h.mux.Handle("/broken/", h.gateway.Guard("broken", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })))
	func() {
		defer func() { recover() }()
		h.ask("GET", "/broken/x", user)
	}()
	events := h.trail()
	var lines []storage.Event
	for _, e := range events {
		if e.Kind != storage.EventCall || e.At.IsZero() || e.Latency < 0 {
			t.Errorf("%+v", e)
		}
		lines = append(lines, storage.Event{Product: e.Product, Method: e.Method, Path: e.Path, Status: e.Status})
	}
	want := []storage.Event{
		{Product: "ai", Method: "POST", Path: "/ai/201", Status: 201}, {Product: "ai", Method: "GET", Path: "/ai/200", Status: 401},
		{Method: "GET", Path: "/api/v1/quota", Status: 200}, {Product: "identity", Method: "GET", Path: "/oauth/userinfo", Status: 200},
		{Product: "broken", Method: "GET", Path: "/broken/x"},
	}
	if len(lines) != len(want) {
		t.Fatalf("%d events: %+v", len(lines), lines)
	}
	for i := range want {
		if lines[i] != want[i] {
			t.Errorf("event %d: %+v, want %+v", i, lines[i], want[i])
		}
	}
	if e := events[0]; e.IP != "203.0.113.9" || e.RequestID != "id-1" || e.App != h.app.ID || e.User == "" || e.Bytes == 0 {
		t.Errorf("%+v", e)
	}
	if e := events[1]; e.App != "" || e.User != "" || e.RequestID == "" {
		t.Errorf("%+v", e)
	}
}
