package gateway_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/storage"
)

// few are plans that are soon used up.
func few(c *gateway.Config) {
	c.Plans = billing.Plans()
	c.Plans[0].Calls, c.Plans[1].Calls = 5, 7
}

// calls makes calls with an application, and wants so many to remain.
func (h *fixture) calls(id string, n int, left int64) {
	h.Helper()
	bearer := h.bearer(must(h.store.App(h.Context(), id))(h))
	for range n {
		h.want(h.call("GET", "/ai/200", bearer), 200, "a call")
	}
	if a := h.call("GET", "/api/v1/quota", bearer); a.number("data.quota.calls_remaining") != left {
		h.Errorf("after %d calls, the quota is %s, want %d left", n, a.text, left)
	}
}

func (h *fixture) removes(p testUser, id string) {
	h.Helper()
	h.want(h.do("DELETE", "/api/v1/apps/"+id, p.bearer, ""), 200, "DELETE")
}

func TestMakingAnApplicationAnewRenewsNoQuotaBeforeTheReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // no time passes, so no call is in the store when it is asked for
		h := newFixture(t, few)
		ada, bob := h.testUser("ada", ""), h.testUser("bob", "")
		a, _ := h.made(ada, shop)
		h.calls(a, 3, 2)
		h.removes(ada, a)

		b, _ := h.made(ada, shop)
		h.calls(b, 0, 2)
		own := h.bearer(must(h.store.App(t.Context(), b))(t))
		if u := h.call("GET", "/api/v1/usage", own); u.number("data.totals.ai") != 0 || u.number("data.overage") != 0 {
			t.Errorf("calls of another application are in its usage: %s", u.text)
		}
		h.calls(b, 4, 0)
		if u := h.call("GET", "/api/v1/usage", own); u.number("data.totals.ai") != 4 || u.number("data.overage") != 2 {
			t.Errorf("its usage is %s, want 4 calls and 2 over", u.text)
		}
		h.removes(ada, b)

		c, _ := h.made(ada, shop)
		h.calls(c, 0, 0)
		d, _ := h.made(ada, shop)
		h.calls(d, 0, 5) // one was used up, and one takes its place
		unrelated, _ := h.made(bob, shop)
		h.calls(unrelated, 0, 5)

		time.Sleep(24 * time.Hour)
		h.calls(c, 0, 5)
	})
}

// Otherwise a new application would save its owner the price of calls beyond the quota.
func TestCallsBeyondWhatARemovedApplicationHasLeftAreSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, func(c *gateway.Config) { few(c); c.Plans[0].OverFen = 1000 })
		ada := h.testUser("ada", "")
		settled := func(id string, calls, over int64) {
			t.Helper()
			s := must(h.gateway.Billing().Settle(t.Context(), must(h.gateway.Billing().App(t.Context(), id))(t), time.Now()))(t)
			if s.Calls != calls || s.Overage != over || s.OverageFen != over {
				t.Errorf("%d calls are settled, %d of them over for %d fen; want %d and %d", s.Calls, s.Overage, s.OverageFen,
					calls, over)
			}
		}
		a, _ := h.made(ada, shop)
		h.calls(a, 3, 2)
		h.removes(ada, a)
		settled(a, 3, 0)

		b, _ := h.made(ada, shop)
		h.calls(b, 2, 0)
		settled(b, 2, 0)
		h.calls(b, 2, 0)
		settled(b, 4, 2)
		h.removes(ada, b)
		settled(b, 4, 2) // as before it was removed

		c, _ := h.made(ada, shop)
		h.calls(c, 1, 0)
		settled(c, 1, 1)
		time.Sleep(24 * time.Hour)
		h.calls(c, 5, 0) // of the next day
		settled(c, 6, 1)
	})
}

func TestQuotaIsRenewedByNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, few)
		ada, bob := h.testUser("ada", ""), h.testUser("bob", "")
		id, _ := h.made(ada, shop)
		h.calls(id, 3, 2)
		h.removes(ada, id)
		id, _ = h.made(ada, shop)
		h.calls(id, 1, 1)
		for _, change := range []func(*storage.App){
			func(a *storage.App) { a.Disabled = true },
			func(a *storage.App) { a.Disabled = false },
			func(a *storage.App) { a.Name = "Renamed" },
		} {
			app := must(h.store.App(t.Context(), id))(t)
			change(&app)
			must(h.store.SaveApp(t.Context(), app))(t)
		}
		for _, owner := range []string{bob.Sub, "", ada.Sub} {
			must(h.store.GiveApp(t.Context(), must(h.store.App(t.Context(), id))(t), owner))(t)
		}
		h.gateway.Forget(id)
		h.calls(id, 0, 1)
	})
}

func TestQuotaOfTheMonthIsCarriedWithinTheMonth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, few)
		ada := h.testUser("ada", "")
		white := storage.App{Name: "A", Domains: []string{"a.example"}, Owner: ada.Sub, Tier: storage.TierWhiteLabel}
		app := must(h.store.CreateApp(t.Context(), white, 0, h.gateway.Billing().Limit(white)))(t)
		h.calls(app.ID, 6, 1)
		h.removes(ada, app.ID)
		time.Sleep(20 * 24 * time.Hour)
		ada = h.again(ada)

		free, _ := h.made(ada, shop)
		h.calls(free, 0, 5) // the day's quota is another
		app = must(h.store.CreateApp(t.Context(), white, 0, h.gateway.Billing().Limit(white)))(t)
		h.calls(app.ID, 0, 1)
		time.Sleep(11 * 24 * time.Hour)
		h.calls(app.ID, 0, 7)
	})
}

func TestApplicationWithoutAnOwnerCarriesNoUsage(t *testing.T) {
	h := newFixture(t, few)
	h.want(h.call("GET", "/ai/200", h.bearer(h.app)), 200, "a call")
	if used, err := h.gateway.Billing().Used(t.Context(), h.app); err != nil || used != (storage.Quota{}) {
		t.Errorf("used is %+v, %v", used, err)
	}
}
