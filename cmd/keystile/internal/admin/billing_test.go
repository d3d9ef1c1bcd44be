package admin

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// ordered stores an order that waits, and returns its id.
func (o *office) ordered(id, tier, status string) string {
	o.t.Helper()
	app := o.stored(id)
	order := storage.Order{
		ID: handle.NewOrderID(time.Now()), AppID: id, From: "free", Tier: tier, AmountFen: 99_900, CreatedAt: time.Now(),
		Status: status,
	}
	app.Order = order.ID
	if _, _, err := o.target.Store.SaveOrder(o.t.Context(), order, app); err != nil {
		o.t.Fatal(err)
	}
	return order.ID
}

func TestOrderIsApprovedOrRejectedFromTheCommandLine(t *testing.T) {
	o := newOffice(t)
	id, _ := o.app()
	first := o.ordered(id, "white_label", storage.OrderPending)
	if said := o.rows("billing", "orders", "--status", "pending"); len(said) != 1 || said[0]["order_id"] != first ||
		fmt.Sprint(said[0]["price"]) != "map[amount:99900 currency:CNY period:year]" {
		t.Errorf("the orders are %s", said)
	}
	o.must("billing", "reject", first, "--reason", "the invoice is open")
	if order, err := o.target.Store.Order(t.Context(), first); err != nil || order.Status != storage.OrderRejected ||
		order.Reason != "the invoice is open" || order.DecidedBy != "operator" {
		t.Errorf("rejected is %+v, %v", order, err)
	}
	if app := o.stored(id); app.TierAt(time.Now()) != "free" || app.Order != "" {
		t.Errorf("the application is %+v", app)
	}
	second := o.ordered(id, "white_label", storage.OrderPending)
	o.must("billing", "approve", second)
	app := o.stored(id)
	if end := app.TierUntil(time.Now()); app.TierAt(time.Now()) != "white_label" ||
		end.Before(time.Now().AddDate(0, 11, 0)) || end.After(time.Now().AddDate(1, 0, 1)) {
		t.Errorf("the application is %+v", app)
	}
	o.wantFailure(2, "the order is decided", "billing", "approve", second)
	o.wantFailure(1, "there is no order", "billing", "approve", "ornone")
	o.wantFailure(2, "it is a day such as", "billing", "approve", second, "--until", "tomorrow")
	if said := o.rows("billing", "orders", "--app", id, "--status", "approved"); len(said) != 1 ||
		said[0]["order_id"] != second {
		t.Errorf("the approved ones are %s", said)
	}
}

func TestTierIsGivenFromTheCommandLineUntilADay(t *testing.T) {
	o := newOffice(t)
	id, _ := o.app()
	waits := o.ordered(id, "enterprise", storage.OrderContact)
	o.must("tier", "set", id, "white_label", "--until", "2199-05-01")
	app := o.stored(id)
	if got := app.TierUntil(time.Now()).Format(time.DateOnly); app.TierAt(time.Now()) != "white_label" ||
		got != "2199-05-01" {
		t.Errorf("the application is %s until %s", app.TierAt(time.Now()), got)
	}
	if order, _ := o.target.Store.Order(t.Context(), waits); order.Status != storage.OrderCanceled {
		t.Errorf("the order that waited is %s", order.Status)
	}
	o.wantFailure(2, "none of free", "tier", "set", id, "gold")
	o.wantFailure(2, "not in the future", "tier", "set", id, "free", "--until", "2001-01-01")
	o.wantFailure(1, "there is no application", "tier", "set", "ksnobody", "free")
}

func TestRunningServerIsToldOfAnotherTier(t *testing.T) {
	o := newOffice(t)
	id, _ := o.app()
	o.serve()
	o.must("tier", "set", id, "enterprise")
	order := o.ordered(id, "free", storage.OrderPending)
	o.must("billing", "approve", order)
	if n := len(slices.DeleteFunc(slices.Clone(o.forgotten), func(f string) bool { return f != id })); n != 2 {
		t.Errorf("the server was told of %v", o.forgotten)
	}
}

func TestSettlementsFromTheCommandLineKnowRemovedApplications(t *testing.T) {
	o := newOffice(t)
	store := o.target.Store
	id, _ := o.app()
	day := time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)
	for i, product := range []string{"ai", "mcp"} {
		row := driver.Count{AppID: id, Product: product, At: day.Add(time.Duration(i) * time.Hour), Calls: 700}
		if err := store.Count(context.Background(), driver.Batch{Node: "n", Seq: uint64(i + 1)},
			[]driver.Count{row}); err != nil {
			t.Fatal(err)
		}
	}
	o.must("app", "delete", id)
	for _, args := range [][]string{{"--month", "2026-03"}, {"--month", "2026-03", "--app", id}} {
		said := o.rows(append([]string{"billing", "settlements"}, args...)...)
		if len(said) != 1 || said[0]["calls"] != 1400.0 || said[0]["overage"] != 400.0 || said[0]["final"] != true ||
			fmt.Sprint(said[0]["products"].([]any)[0].(map[string]any)["calls"], len(said[0]["products"].([]any))) != "700 2" {
			t.Errorf("settlements %v: %s", args, said)
		}
	}
	o.wantFailure(2, "not a month", "billing", "settlements", "--month", "March")
	o.wantFailure(1, "there is and was no application", "billing", "settlements", "--app", "ksnobody")
}
