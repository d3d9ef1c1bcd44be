package gateway_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/storage"
)

// Rows of hours that are gone must not be answered as hours without calls.
func TestHoursThatAreNotKeptAreRefusedAndDaysStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		edit := func(c *gateway.Config) { c.Plans = smallPlans() }
		h := newFixture(t, edit)
		h.app.SetTier(storage.TierWhiteLabel, time.Now().Add(90*time.Minute), time.Time{})
		if app, err := h.store.SaveApp(t.Context(), h.app); err != nil {
			t.Fatal(err)
		} else {
			h.app = app
		}
		for range 5 { // 2000-01-01: three hours free, of which two are over, then another tier
			for range 5 {
				if err := h.gateway.Charge(storage.Caller{AppID: h.app.ID}, gateway.ProductAI, "", 0, false); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(time.Hour)
		}
		h.restart(edit) // nothing is on its way
		before := must(h.gateway.Billing().Settle(t.Context(), h.app, month2000))(t)
		time.Sleep(450 * 24 * time.Hour) // 2001-03-26
		if n, err := h.store.Sweep(context.Background(), time.Now()); err != nil || n < 5 {
			t.Fatalf("Sweep = %d, %v, want five hours gone", n, err)
		}
		bearer := h.bearer(h.app)
		a := h.want(h.call("GET", "/api/v1/usage?granularity=hour&from=2000-01-01&to=2000-01-02", bearer), 400,
			"hours of 450 days ago")
		for _, want := range []string{"400 days", "granularity=day", "2000-03-01T00:00:00Z"} {
			if !strings.Contains(a.text, want) {
				t.Errorf("%s, want it to say %q", a.text, want)
			}
		}
		h.want(h.call("GET", "/api/v1/usage?granularity=hour&from=2000-03-01&to=2000-03-02", bearer), 200,
			"what it says to ask")
		h.want(h.call("GET", "/api/v1/usage?granularity=hour&from=2000-02-29T23:00:00Z&to=2000-03-02", bearer), 400,
			"an hour before it")
		a = h.want(h.call("GET", "/api/v1/usage?from=2000-01-01&to=2000-01-02", bearer), 200, "days")
		if a.number("data.totals.ai") != 25 {
			t.Errorf("by day it is %s, want 25 calls", a.text)
		}
		after := must(h.gateway.Billing().Settle(t.Context(), h.app, month2000))(t)
		if before.Calls != 25 || after.Calls != 25 || len(after.Products) != 1 || after.Products[0].Calls != 25 {
			t.Errorf("settled by hours it is %+v, by days %+v, want 25 calls in both", before, after)
		}
	})
}

var month2000 = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func TestMonthIsSettledTheSameByHoursAndByDays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		edit := func(c *gateway.Config) { c.Plans = smallPlans() }
		h := newFixture(t, edit)
		for range 20 { // over the quota of a day, and then over that of a month
			for _, app := range []storage.App{h.app, h.other} {
				for range 5 {
					if err := h.gateway.Charge(storage.Caller{AppID: app.ID}, gateway.ProductAI, "", 0, false); err != nil {
						t.Fatal(err)
					}
				}
			}
			time.Sleep(7 * time.Hour)
		}
		h.restart(edit)
		var before []billing.Settlement
		for _, app := range []storage.App{h.app, h.other} {
			before = append(before, must(h.gateway.Billing().Settle(t.Context(), app, month2000))(t))
		}
		time.Sleep(450 * 24 * time.Hour)
		must(h.store.Sweep(context.Background(), time.Now()))(t)
		for i, app := range []storage.App{h.app, h.other} {
			after := must(h.gateway.Billing().Settle(t.Context(), app, month2000))(t)
			if a, b := before[i], after; a.Calls != 100 || a.Overage == 0 || b.Calls != a.Calls || b.Overage != a.Overage ||
				b.OverageFen != a.OverageFen || b.Tiers[0].Overage != a.Tiers[0].Overage {
				t.Errorf("settled by hours it is %+v, by days %+v", a, b)
			}
		}
	})
}
