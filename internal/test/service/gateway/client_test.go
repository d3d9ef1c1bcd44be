package gateway_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/test/forgery"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/counters"
)

// vendor adds an application that nobody registered here.
func (h *fixture) vendor(id string) storage.App {
	h.Helper()
	kind := client.Document
	if id == "" {
		id, kind = handle.NewClientID(), client.Dynamic
	}
	return must(h.store.SaveApp(h.Context(), storage.App{ID: id, Name: "Agent", Public: true, Client: &client.Description{
		Kind: kind, AuthMethod: client.AuthNone, RedirectURIs: []string{"http://localhost/callback"},
	}}))(h)
}

// of returns a token of a user of an application.
func (h *fixture) of(app storage.App, sub string) string {
	h.Helper()
	s := h.service(sub)
	s.ClientID = app.ID
	return forgery.Genuine(h, s)
}

// Decision 55: the charge and the rate are of the person, not of the vendor.
func TestThousandPeopleOfOneClientDoNotTouchEachOther(t *testing.T) {
	for _, id := range []string{"https://agent.example/client.json", ""} {
		const people = 1000
		h := newFixture(t, func(c *gateway.Config) {
			c.Plans = billing.Plans()
			c.Plans[0].PerMinute, c.Plans[0].Calls = 5, 3
		})
		app := h.vendor(id)
		bearers := make([]string, people)
		for i := range bearers {
			bearers[i] = h.of(app, fmt.Sprint("u", i))
		}
		for i, bearer := range bearers { // each makes 1, 2 or 3 calls
			for range 1 + i%3 {
				h.want(h.call("GET", "/ai/200", bearer), 200, "a call")
			}
		}
		for range 3 { // the first one goes on to the end of the rate
			h.call("GET", "/ai/200", bearers[0])
		}
		h.want(h.call("GET", "/ai/200", bearers[0]), 200, "the fifth request of a minute")
		h.want(h.call("GET", "/ai/200", bearers[0]), 429, "the sixth request of a minute")
		for i, bearer := range bearers[1:] {
			calls := int64(1 + (i+1)%3)
			a := h.want(h.call("GET", "/api/v1/quota", bearer), 200, "quota")
			if a.number("data.usage_this_month.ai") != calls || a.number("data.quota.calls_remaining") != 3-calls {
				t.Fatalf("the quota of person %d is %s, want %d calls", i+1, a.text, calls)
			}
			if a = h.want(h.call("GET", "/api/v1/usage", bearer), 200, "usage"); a.number("data.totals.ai") != calls {
				t.Fatalf("the usage of person %d is %s, want %d calls", i+1, a.text, calls)
			}
		}
	}
}

// The audit trail has the person and the client.
func TestTrailShowsPersonAndClient(t *testing.T) {
	h := newFixture(t)
	app := h.vendor("https://agent.example/client.json")
	h.call("GET", "/ai/200", h.of(app, "u1"))
	for _, e := range h.trail() {
		if e.Product == gateway.ProductAI && (e.App != app.ID || e.User != "u1") {
			t.Errorf("the trail has %+v", e)
		}
	}
}

func TestClientHasNothingToManage(t *testing.T) {
	h := newFixture(t)
	app := h.vendor("https://agent.example/client.json")
	dynamic := h.vendor("")
	user := must(h.store.CreateUser(h.Context(), storage.User{Username: "ada"},
		storage.Login{Method: storage.LoginSelf, Subject: "ada"}))(h)
	plain, apps := h.service(user.Sub), h.service(user.Sub)
	plain.ClientID, apps.ClientID = app.ID, app.ID
	apps.Scope = "openid apps"
	id := "https:%2F%2Fagent.example%2Fclient.json"
	for _, c := range []struct {
		method, path, body string
		plain, apps        int
	}{
		{"GET", "/api/v1/apps", "", 403, 200},
		{"GET", "/api/v1/apps/" + id, "", 404, 404}, // a URL is no path
		{"GET", "/api/v1/apps/" + dynamic.ID, "", 403, 404},
		{"PATCH", "/api/v1/apps/" + dynamic.ID, `{"name":"Mine"}`, 403, 404},
		{"DELETE", "/api/v1/apps/" + dynamic.ID, "", 403, 404},
		{"POST", "/api/v1/apps/" + dynamic.ID + "/secret", "{}", 403, 404},
		{"POST", "/api/v1/billing/upgrade", `{"tier":"white_label"}`, 403, 404},
		{"POST", "/api/v1/billing/upgrade", `{"tier":"white_label","client_id":"https://agent.example/client.json"}`, 403, 404},
		{"GET", "/api/v1/billing/orders", "", 403, 200},
		{"GET", "/api/v1/billing/settlements", "", 403, 200},
		{"GET", "/api/v1/billing/settlements?client_id=" + id, "", 403, 404},
		{"GET", "/api/v1/billing/plans", "", 200, 200},
		{"GET", "/api/v1/verify?product=ai", "", 200, 200},
	} {
		for bearer, want := range map[string]int{forgery.Genuine(h, plain): c.plain, forgery.Genuine(h, apps): c.apps} {
			r := h.request(c.method, c.path, bearer, body(c.body), "Content-Type", "application/json")
			h.want(h.send(r), want, c.method+" "+c.path)
		}
	}
}

func TestPeopleOfOneClientAreOneApplicationInMemory(t *testing.T) {
	h := newFixture(t)
	app := h.vendor("https://agent.example/client.json")
	h.call("GET", "/ai/200", h.of(app, "u0"))
	before := h.backend.read()
	for i := range 100 {
		h.want(h.call("GET", "/ai/200", h.of(app, fmt.Sprint("u", i))), 200, "a call")
	}
	if n := h.backend.read() - before; n != 0 {
		t.Errorf("100 people cost %d reads of the store, want none", n)
	}
}

func TestQuotaLeftFallsWithEachCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		app := h.vendor("")
		callers := []storage.Caller{{AppID: h.app.ID}, {AppID: app.ID, UserID: "u1"}, {AppID: app.ID, UserID: "u2"}}
		for _, c := range callers {
			charge(t, h, c, 3)
			for left := int64(997); left > 950; left-- {
				limit, got, reset, ok := h.gateway.Quota(t.Context(), c)
				if !ok || limit != 1000 || got != left || !reset.Equal(time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC)) {
					t.Fatalf("Quota() = %d, %d, %v, %t, want %d left", limit, got, reset, ok, left)
				}
				charge(t, h, c, 1)
				time.Sleep(700 * time.Millisecond) // it is read again meanwhile, and sent to the store
			}
		}
		time.Sleep(24*time.Hour - time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)))
		h.gateway.Quota(t.Context(), callers[0])
		synctest.Wait()
		if _, left, reset, ok := h.gateway.Quota(t.Context(), callers[0]); !ok || left != 1000 ||
			!reset.Equal(time.Date(2000, 1, 3, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("on the next day Quota() = %d, %v, %t", left, reset, ok)
		}
	})
}

func charge(t testing.TB, h *fixture, c storage.Caller, n int) {
	t.Helper()
	for range n {
		if err := h.gateway.Charge(c, gateway.ProductMCP, "shop__order", 0, false); err != nil {
			t.Fatal(err)
		}
	}
}

func TestQuotaLeftStopsAtNoneAndCanBeUnlimited(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) {
		c.Plans = billing.Plans()
		c.Plans[0].Calls, c.Plans[1].Calls = 2, counters.Unlimited
	})
	charge(t, h, storage.Caller{AppID: h.app.ID}, 5)
	if limit, left, _, ok := h.gateway.Quota(t.Context(), storage.Caller{AppID: h.app.ID}); !ok || limit != 2 ||
		left != 0 {
		t.Errorf("Quota() = %d, %d, %t", limit, left, ok)
	}
	if limit, left, reset, ok := h.gateway.Quota(t.Context(), storage.Caller{AppID: h.other.ID}); !ok || limit != -1 ||
		left != -1 || reset.IsZero() {
		t.Errorf("Quota() = %d, %d, %v, %t", limit, left, reset, ok)
	}
}

func TestStoreThatIsAwayIsWaitedForOnceAndForAnInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		hang := make(chan struct{})
		h.backend.set(hang, nil)
		start := time.Now()
		for range 50 {
			if _, _, _, ok := h.gateway.Quota(t.Context(), storage.Caller{AppID: h.app.ID}); ok {
				t.Fatal("it knows what nobody has read")
			}
		}
		if waited := time.Since(start); waited != 200*time.Millisecond {
			t.Errorf("50 calls waited %v in all, want 200 ms once", waited)
		}
		h.backend.set(nil, nil)
		close(hang)
		time.Sleep(2 * time.Second)
		h.gateway.Quota(t.Context(), storage.Caller{AppID: h.app.ID})
		synctest.Wait()
		if _, left, _, ok := h.gateway.Quota(t.Context(), storage.Caller{AppID: h.app.ID}); !ok || left != 1000 {
			t.Errorf("Quota() = %d, %t when the store is back", left, ok)
		}
	})
}

func body(text string) io.Reader { return strings.NewReader(text) }

func (f *faulty) read() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reads
}
