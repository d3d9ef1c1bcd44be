package gateway_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/storage"
)

// Decision 27.
func TestChargeAppliesToBillableAnswers(t *testing.T) {
	for path, want := range map[string]int64{
		"/ai/200": 1, "/ai/201": 1, "/ai/204": 1, "/ai/302": 1, "/ai/400": 1, "/ai/404": 1,
		"/ai/500": 1, "/ai/503": 1, // the product's own failure
		"/ai/401": 0, "/ai/429": 0,
	} {
		h := newFixture(t)
		bearer := h.bearer(h.app)
		h.call("GET", path, bearer)
		if got := h.used(bearer, gateway.ProductAI); got != want {
			t.Errorf("%s is charged %d times, want %d", path, got, want)
		}
	}
}

func TestReadingWhatIsLeftIsFree(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	for _, path := range []string{"/api/v1/quota", "/api/v1/usage", "/api/v1/billing/plans", "/api/v1/verify",
		"/api/v1/verify/a/b", "/nothing", "/oauth/jwks"} {
		h.call("GET", path, bearer)
	}
	a := h.call("GET", "/api/v1/quota", bearer)
	if a.number("data.quota.calls_remaining") != 1000 {
		t.Errorf("quota is %s, want nothing charged", a.text)
	}
}

func TestUserInfoIsChargedWhereItAnswers(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	h.want(h.call("GET", "/oauth/userinfo", bearer), 401, "an application is no user")
	h.want(h.call("GET", "/oauth/userinfo", ""), 401, "no token")
	h.want(h.call("PUT", "/oauth/userinfo", bearer), 405, "a method that is not there")
	if got := h.used(bearer, gateway.ProductIdentity); got != 1 {
		t.Errorf("charged %d times, want 1: the 405", got)
	}
	token := h.userBearer()
	h.want(h.call("GET", "/oauth/userinfo", token), 200, "userinfo")
	h.want(h.call("GET", "/oauth/userinfo.php", token), 200, "userinfo.php")
	if got := h.used(bearer, gateway.ProductIdentity); got != 3 {
		t.Errorf("charged %d times, want 3", got)
	}
	eve := h.testUser("eve", "").bearer
	h.backend.set(nil, context.DeadlineExceeded)
	h.want(h.call("GET", "/oauth/userinfo", eve), 503, "of a user who is not remembered, with the store away")
	h.backend.set(nil, nil)
	if got := h.used(bearer, gateway.ProductIdentity); got != 3 {
		t.Errorf("charged %d times, want 3: the failure was ours", got)
	}
}

func TestCallIsChargedOnceHoweverItIsAnswered(t *testing.T) {
	for name, service := range map[string]http.HandlerFunc{
		"nothing":        func(http.ResponseWriter, *http.Request) {},
		"only a body":    func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("a")); w.Write([]byte("b")) },
		"a status twice": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200); w.WriteHeader(500) },
		"announced":      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(200) },
		"a stream": func(w http.ResponseWriter, _ *http.Request) {
			http.NewResponseController(w).Flush()
			w.Write([]byte("a"))
		},
		"flushed by itself": func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() },
		"begun, then broken": func(w http.ResponseWriter,
			_ *http.Request) {
			w.Write([]byte("a"))
			panic(http.ErrAbortHandler)
		},
	} {
		h := newFixture(t)
		bearer := h.bearer(h.app)
		h.mux.Handle("/files/", h.gateway.Guard("files", service))
		func() {
			defer func() { recover() }()
			h.call("GET", "/files/x", bearer)
		}()
		if got := h.used(bearer, "files"); got != 1 {
			t.Errorf("%s: charged %d times, want 1", name, got)
		}
	}
}

func TestInformationalAnswerDecidesNothing(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	h.mux.Handle("/files/", h.gateway.Guard("files", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(map[string]int{"/files/401": 401, "/files/500": 500}[r.URL.Path])
	})))
	h.call("GET", "/files/401", bearer)
	h.call("GET", "/files/500", bearer)
	a := h.call("GET", "/api/v1/usage?product=files", bearer)
	if !strings.Contains(a.text, `"product":"files","calls":1,"errors":1}`) {
		t.Errorf("usage is %s, want one call and one error", a.text)
	}
}

func TestCallThatEndedBeforeItsAnswerBeganIsNotCharged(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	h.mux.Handle("/files/", h.gateway.Guard("files",
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })))
	func() {
		defer func() { recover() }()
		h.call("GET", "/files/x", bearer)
	}()
	if got := h.used(bearer, "files"); got != 0 {
		t.Errorf("charged %d times, want 0", got)
	}
}

func TestChargeIsCountedBeforeTheAnswerLeaves(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	counted := int64(-1)
	w := &beginRecorder{ResponseRecorder: httptest.NewRecorder(),
		leaves: func() { counted = h.used(bearer, gateway.ProductAI) }}
	h.handler.ServeHTTP(w, h.request("GET", "/ai/200", bearer, nil))
	if counted != 1 {
		t.Errorf("counted %d when the first byte left, want 1", counted)
	}
}

// beginRecorder calls leaves when the answer begins.
type beginRecorder struct {
	*httptest.ResponseRecorder
	leaves func()
}

func (w *beginRecorder) WriteHeader(status int) { w.leaves(); w.ResponseRecorder.WriteHeader(status) }

func TestCallThatCannotBeCountedIsNotAnswered(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	h.gateway.Close(t.Context()) // counts nothing any more
	h.handler = h.gateway.Front(h.gateway.Guard(gateway.ProductAI, http.HandlerFunc(service)))
	a := h.want(h.call("GET", "/ai/200", bearer, "X-Request-Id", "id-1"), 503, "a call")
	if a.number("errcode") != 503 || a.header.Get("Retry-After") != "1" || a.body["client_id"] != nil ||
		a.header.Get("X-Service") != "" || a.header.Get("X-Request-Id") != "id-1" {
		t.Errorf("answered %v %s", a.header, a.text)
	}
}

// Protocol 8: exceeding a quota does not interrupt service.
func TestQuotaThatIsUsedUpIsAnsweredAndCounted(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) {
		c.Plans = billing.Plans()
		c.Plans[0].Calls = 5
	})
	bearer := h.bearer(h.app)
	for i := range int64(8) {
		h.want(h.call("GET", "/ai/200", bearer), 200, "a call")
		a := h.call("GET", "/api/v1/quota", bearer)
		if got, want := a.number("data.quota.calls_remaining"), max(0, 4-i); got != want {
			t.Errorf("after %d calls %d remain, want %d", i+1, got, want)
		}
	}
	a := h.call("GET", "/api/v1/usage", bearer)
	if a.number("data.totals.ai") != 8 || a.number("data.overage") != 3 {
		t.Errorf("usage is %s, want 8 calls, 3 of them over", a.text)
	}
}

// Decision 26.
func TestQuotasBeginAnewByTheCalendarInUTC(t *testing.T) {
	for _, c := range []struct {
		tier      string
		at        string // of the last call before the boundary
		reset     string
		remaining int64 // before and, as many, after one more call
		next      string
	}{
		{storage.TierFree, "2000-01-31T23:59:59Z", "2000-02-01T00:00:00Z", 999, "2000-02-02T00:00:00Z"},
		{storage.TierFree, "2000-02-28T23:59:59Z", "2000-02-29T00:00:00Z", 999, "2000-03-01T00:00:00Z"},
		{storage.TierWhiteLabel, "2000-01-31T23:59:59Z", "2000-02-01T00:00:00Z", 49_999, "2000-03-01T00:00:00Z"},
		{storage.TierWhiteLabel, "2000-12-31T23:59:59Z", "2001-01-01T00:00:00Z", 49_999, "2001-02-01T00:00:00Z"},
		{storage.TierEnterprise, "2000-01-31T23:59:59Z", "2000-02-01T00:00:00Z", -1, "2000-03-01T00:00:00Z"},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newFixture(t)
			app := must(h.store.SaveApp(t.Context(), storage.App{Name: "A", Domains: []string{"a.example"}, Tier: c.tier}))(t)
			at := must(time.Parse(time.RFC3339, c.at))(t)
			time.Sleep(time.Until(at))
			bearer := h.bearer(app)
			for range 2 {
				h.want(h.call("GET", "/ai/200", bearer), 200, "a call")
				a := h.call("GET", "/api/v1/quota", bearer)
				quota := a.body["data"].(map[string]any)["quota"].(map[string]any)
				if quota["reset_at"] != c.reset || a.number("data.quota.calls_remaining") != c.remaining {
					t.Errorf("%s at %s: %s", c.tier, time.Now().UTC(), a.text)
				}
				time.Sleep(time.Second)
				c.reset = c.next
			}
		})
	}
}

func TestProductIsInTheRecordFromTheStart(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.Products = append(c.Products, "search") })
	a := h.want(h.call("GET", "/api/v1/quota", h.bearer(h.app)), 200, "quota")
	for _, product := range []string{"identity", "ai", "payment", "storage", "mcp", "search"} {
		if a.number("data.usage_this_month."+product) != 0 {
			t.Errorf("%s: %s", product, a.text)
		}
	}
}

func TestChargesOutliveTheProcess(t *testing.T) {
	dir := t.TempDir() + "/usage"
	h := newFixture(t, func(c *gateway.Config) { c.Journal = dir })
	bearer := h.bearer(h.app)
	for range 7 {
		h.want(h.call("GET", "/ai/200", bearer), 200, "a call")
	}
	if err := h.gateway.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	next := must(gateway.New(t.Context(), gateway.Config{Store: h.store, Tokens: h.tokens, Trail: h.audit, Journal: dir,
		Log: quiet}))(t)
	defer next.Close(context.Background())
	h.handler = next.Front(next)
	if got := h.used(bearer, gateway.ProductAI); got != 7 {
		t.Errorf("%d calls, want 7", got)
	}
}

func TestGuardBehindAGuardChargesItsOwnProduct(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	h.mux.Handle("/both/", h.gateway.Guard("outer", h.gateway.Guard("inner", http.HandlerFunc(service))))
	h.want(h.call("GET", "/both/x", bearer), 200, "a call")
	if outer, inner := h.used(bearer, "outer"), h.used(bearer, "inner"); outer != 1 || inner != 1 {
		t.Errorf("charged %d and %d, want 1 each", outer, inner)
	}
}

func TestProductThatTheConfigDoesNotKnowIsRefused(t *testing.T) {
	h := newFixture(t)
	for name, guarded := range map[string]func(string, http.Handler) http.Handler{"Guard": h.gateway.Guard,
		"Meter": h.gateway.Meter} {
		func() {
			defer func() {
				if why := fmt.Sprint(recover()); !strings.Contains(why, `"serach" is none of ai,`) || !strings.Contains(why, "Config.Products") {
					t.Errorf("%s of a misspelt product panics with %s", name, why)
				}
			}()
			guarded("serach", http.NotFoundHandler())
		}()
	}
	if _, err := h.gateway.Proxy(gateway.Upstream{Product: "serach", URL: "http://127.0.0.1:1"}); err == nil || !strings.Contains(err.Error(), `"serach" is none of ai,`) {
		t.Errorf("Proxy: %v", err)
	}
}
