package gateway_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/gateway/usage"
)

// A call is in the service's figures at once, with its time and its caller.
func TestCallsAreInTheFiguresOfTheService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		bearer := h.bearer(h.app)
		for range 3 {
			h.call("GET", "/ai/200", bearer)
		}
		h.call("GET", "/ai/500", bearer)
		h.spend(h.other, 9, gateway.ProductMCP, "shop__order", "u1", false)
		f, err := h.gateway.Usage().Figures(t.Context(), usage.FiguresQuery{})
		if err != nil || f.Total.Calls != 13 || f.Total.Errors != 1 {
			t.Fatalf("the service has %+v, %v", f.Total, err)
		}
		if f, err = h.gateway.Usage().Figures(t.Context(), usage.FiguresQuery{Product: gateway.ProductAI}); err != nil ||
			f.Total.Calls != 4 || f.Total.P99 <= 0 || f.Total.P99 > time.Millisecond {
			t.Errorf("ai has %+v, %v: it answers at once", f.Total, err)
		}
		time.Sleep(2 * time.Second) // the batch is stored
		synctest.Wait()
		top, err := h.gateway.Usage().Top(t.Context(), usage.TopQuery{Of: usage.Apps})
		want := []usage.TopEntry{{Name: h.other.ID, Calls: 9}, {Name: h.app.ID, Calls: 4, Errors: 1}}
		if err != nil || len(top) != 2 || top[0] != want[0] || top[1] != want[1] {
			t.Errorf("the top is %+v, %v, want %+v", top, err, want)
		}
		if top, err = h.gateway.Usage().Top(t.Context(), usage.TopQuery{Of: usage.Users}); err != nil || len(top) != 1 ||
			top[0].Name != "u1" {
			t.Errorf("the top of users is %+v, %v", top, err)
		}
	})
}

// Closing stores the names with the most calls, for later readers.
func TestClosingStoresWhoCalledMost(t *testing.T) {
	h := newFixture(t)
	h.spend(h.app, 2, gateway.ProductMCP, "shop__order", "u1", false)
	if err := h.gateway.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	all, more, err := h.store.Rankings(t.Context(), usage.Tools, time.Now().AddDate(0, 0, -1), time.Now().AddDate(0, 0, 1))
	if err != nil || more || len(all) != 1 || all[0].Names[0] != "shop__order" || all[0].Calls[0] != 2 {
		t.Errorf("stored is %+v, %v", all, err)
	}
}
