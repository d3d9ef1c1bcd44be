package gateway_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/storage"
)

// behind puts a service behind the proxy at /svc and returns a token of a user.
func behind(t *testing.T, h *fixture, service http.HandlerFunc, edits ...func(*gateway.Upstream)) string {
	t.Helper()
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	u := gateway.Upstream{Product: "svc", URL: server.URL + "/base", Strip: "/svc"}
	for _, edit := range edits {
		edit(&u)
	}
	h.svc = must(h.gateway.Proxy(u))(t)
	return h.userBearer()
}

func TestServiceBehindTheProxyLearnsTheCallerAndNothingElse(t *testing.T) {
	h := newFixture(t)
	var got *http.Request
	var body string
	user := behind(t, h, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got, body = r, string(text)
		w.Header().Set("X-Service", "yes")
		w.WriteHeader(201)
		io.WriteString(w, "done")
	})
	r := h.request("PUT", "/svc/a%2Fb//c%20d?x=1&y=a+b", user, strings.NewReader("payload"),
		"X-Keystile-Client", "forged", "X-Keystile-User", "forged", "X-Keystile-Tier", "enterprise", "X-Forwarded-For",
		"198.51.100.1",
		"Cookie", "a=1; open_sso_token=SECRET; b=2", "Cookie", "open_sso_token=SECRET", "Traceparent",
		"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "X-Request-Id", "id-1", "from", "203.0.113.9:1")
	a := h.want(h.send(r), 201, "a call")
	if a.text != "done" || a.header.Get("X-Service") != "yes" || body != "payload" {
		t.Errorf("answered %q %v, the service read %q", a.text, a.header, body)
	}
	if got.Method != "PUT" || got.URL.EscapedPath() != "/base/a%2Fb//c%20d" || got.URL.RawQuery != "x=1&y=a+b" {
		t.Errorf("the service was asked %s %s", got.Method, got.RequestURI)
	}
	for name, want := range map[string]string{
		"X-Keystile-Client": h.app.ID, "X-Keystile-Tier": storage.TierFree, "X-Forwarded-For": "203.0.113.9",
		"Cookie":      "a=1; b=2",
		"Traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "X-Request-Id": "id-1",
		"X-Forwarded-Prefix": "/svc",
	} {
		if values := got.Header.Values(name); len(values) != 1 || values[0] != want {
			t.Errorf("%s: %q, want %q once", name, values, want)
		}
	}
	if got.Header["Authorization"] != nil {
		t.Error("the service got the token")
	}
	if sub := got.Header.Get("X-Keystile-User"); sub == "forged" || sub == "" {
		t.Errorf("X-Keystile-User: %q", sub)
	}
	if got := h.used(user, "svc"); got != 1 {
		t.Errorf("charged %d", got)
	}
}

func TestProxyPathsNeverClimbOutOfTheUpstream(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.Plans = unlimited() })
	received := 0
	user := behind(t, h, func(_ http.ResponseWriter, r *http.Request) { received++ })
	for _, path := range []string{"/svc/..", "/svc/../admin", "/svc/%2e%2e/admin", "/svc/a/%2E%2e/../b", "/svc/.", "/svc/a%2F..%2F..%2Fadmin", "/svc/./x", "/svc/..;/x", "/svc/..;a=b/x", `/svc/..\admin`, "/svc/..%5Cadmin", "/svc/%2e%2e%3b/x",
		"/svc/%252e%252e/admin", "/svc/a%252f..%252fb", "/svc/..%253bx/y", "/svc/a%255c%2e%2e/x"} {
		h.want(h.call("GET", path, user), 400, path)
	}
	if got := h.used(user, "svc"); received != 0 || got != 0 {
		t.Errorf("the service was asked %d times, and %d calls charged", received, got)
	}
	for _, path := range []string{"/svc/...", "/svc/a..b", "/svc/.well-known/x", "/svc/a;..", "/svc/..a", "/svc/100%25",
		"/svc/a%252Fb"} {
		h.want(h.call("GET", path, user), 200, path)
	}
}

func TestApplicationIsNoUserBehindTheProxy(t *testing.T) {
	h := newFixture(t)
	var got http.Header
	behind(t, h, func(_ http.ResponseWriter, r *http.Request) { got = r.Header })
	h.want(h.call("GET", "/svc/x", h.bearer(h.app), "X-Keystile-User", "forged"), 200, "a call")
	if got.Get("X-Keystile-Client") != h.app.ID || len(got.Values("X-Keystile-User")) != 0 {
		t.Errorf("%v", got)
	}
}

func TestServiceThatDoesNotAnswerIsOurFailureAndNotCharged(t *testing.T) {
	for name, c := range map[string]struct {
		service http.HandlerFunc
		edit    func(*gateway.Upstream)
		status  int
		charged int64
	}{
		"nobody is there": {nil, func(u *gateway.Upstream) { u.URL = "http://127.0.0.1:1" }, 502, 0},
		"it hangs": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
			func(u *gateway.Upstream) { u.Timeout = 50 * time.Millisecond }, 504, 0},
		"it hangs up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
			func(*gateway.Upstream) {}, 502, 0},
		"it fails by itself": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) },
			func(*gateway.Upstream) {}, 502, 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			user := behind(t, h, c.service, c.edit)
			a := h.want(h.call("POST", "/svc/x", user), c.status, "a call")
			if c.charged == 0 && (a.number("errcode") != int64(c.status) || strings.Contains(a.text, "127.0.0.1")) {
				t.Errorf("answered %s", a.text)
			}
			if got := h.used(user, "svc"); got != c.charged {
				t.Errorf("charged %d, want %d", got, c.charged)
			}
		})
	}
}

// As with x/time/rate, a call that would wait too long is refused at once.
func TestProxyRefusesWhatAServiceCannotTakeWithoutCharge(t *testing.T) {
	h := newFixture(t)
	user := behind(t, h, func(http.ResponseWriter, *http.Request) {},
		func(u *gateway.Upstream) { u.PerSecond, u.Burst, u.MaxWait = 0.001, 2, time.Second })
	h.want(h.call("GET", "/svc/x", user), 200, "call 1")
	h.want(h.call("GET", "/svc/x", user), 200, "call 2")
	a := h.want(h.call("GET", "/svc/x", user), 503, "call 3")
	if a.header.Get("Retry-After") == "" {
		t.Errorf("%v", a.header)
	}
	if got := h.used(user, "svc"); got != 2 {
		t.Errorf("charged %d, want 2", got)
	}
}

func TestClientThatGoesAwayEndsItsCallOfTheService(t *testing.T) {
	h := newFixture(t)
	began, ended := make(chan struct{}), make(chan struct{})
	user := behind(t, h, func(_ http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
		close(ended)
	})
	front := httptest.NewServer(h.handler)
	defer front.Close()
	r, err := http.NewRequest("GET", front.URL+"/svc/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+user)
	conn := http.Transport{}
	defer conn.CloseIdleConnections()
	ctx, leave := context.WithCancel(t.Context())
	go func() { <-began; leave() }()
	if resp, err := conn.RoundTrip(r.WithContext(ctx)); err == nil {
		resp.Body.Close()
		t.Error("the client has not gone away")
	}
	<-ended
}

func TestStreamPassesAsItComes(t *testing.T) {
	h := newFixture(t)
	more := make(chan struct{})
	user := behind(t, h, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: one\n\n")
		w.(http.Flusher).Flush()
		<-more
		io.WriteString(w, "data: two\n\n")
	})
	front := httptest.NewServer(h.handler)
	defer front.Close()
	r, _ := http.NewRequest("GET", front.URL+"/svc/x", nil)
	r.Header.Set("Authorization", "Bearer "+user)
	resp := must(http.DefaultClient.Do(r))(t)
	defer resp.Body.Close()
	first := make([]byte, 11)
	if _, err := io.ReadFull(resp.Body, first); err != nil || string(first) != "data: one\n\n" {
		t.Fatalf("%q, %v", first, err)
	}
	close(more)
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != "data: two\n\n" {
		t.Errorf("%q, %v", rest, err)
	}
}

func TestFaultyUpstreamIsRefusedWithEveryReason(t *testing.T) {
	h := newFixture(t)
	for _, url := range []string{"", "127.0.0.1:9", "ftp://x", "http://", "http://u:p@x", "http://x?a", "http://x#a",
		"http://a b"} {
		_, err := h.gateway.Proxy(gateway.Upstream{URL: url, PerSecond: -1, Strip: "x"})
		for _, want := range []string{"the URL", "Product is missing", "negative", "strip"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", url, err, want)
			}
		}
	}
	if _, err := h.gateway.Proxy(gateway.Upstream{Product: "No Name", URL: "http://x"}); err == nil {
		t.Error("a product may be called anything")
	}
}

func TestFaultyConfigIsRefusedWithEveryReason(t *testing.T) {
	_, err := gateway.New(t.Context(), gateway.Config{
		PerAddress: -2, Products: []string{"Bad Name"},
		Plans: []billing.Plan{{Tier: "free", PerMinute: 0, Calls: 5, Period: "week"},
			{Tier: "free", PerMinute: 1, Calls: 1, Period: billing.PerDay}},
	})
	for _, want := range []string{"Store is missing", "Tokens is missing", "Trail is missing", "PerAddress", `"Bad Name"`, "a limit is above 0", "the period is", "is there twice", `"white_label" is missing`, `"enterprise" is missing`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New() = %v, want %q", err, want)
		}
	}
}

func TestPlansAreAsPublished(t *testing.T) {
	h := newFixture(t)
	a := h.want(h.call("GET", "/api/v1/billing/plans", h.bearer(h.app)), 200, "plans")
	var got struct {
		Data []struct {
			Tier      string
			PerMinute int `json:"requests_per_minute"`
			Calls     int `json:"calls_limit"`
			Period    string
			Branding  bool
			Price     struct {
				Amount           int
				Currency, Period string
			}
			SLA string
		}
	}
	if err := json.Unmarshal([]byte(a.text), &got); err != nil || len(got.Data) != 3 {
		t.Fatalf("%v %s", err, a.text)
	}
	free, white, enterprise := got.Data[0], got.Data[1], got.Data[2]
	if free.Tier != "free" || free.PerMinute != 60 || free.Calls != 1000 || free.Period != "day" || !free.Branding ||
		free.Price.Amount != 0 {
		t.Errorf("%+v", free)
	}
	if white.Tier != "white_label" || white.PerMinute != 600 || white.Calls != 50_000 || white.Period != "month" ||
		white.Branding || white.Price.Amount != 99_900 || white.Price.Currency != "CNY" || white.Price.Period != "year" {
		t.Errorf("%+v", white)
	}
	if enterprise.Tier != "enterprise" || enterprise.PerMinute != -1 || enterprise.Calls != -1 ||
		enterprise.SLA != "99.9%" || enterprise.Branding {
		t.Errorf("%+v", enterprise)
	}
}
