package billing

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

func openStore(t *testing.T) *storage.Store {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func newBilling(t *testing.T, store *storage.Store) *Billing {
	t.Helper()
	b, err := New(Config{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func at(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		panic(err)
	}
	return t
}

// tiersOf writes the tiers of an application as a text.
func tiersOf(a storage.App) string {
	text := a.Tier
	for _, c := range a.Tiers {
		text += fmt.Sprintf(" %s@%s", c.Tier, c.At.Format("2006-01-02 15:04"))
	}
	return text
}

// Decision 30: white_label one year, more at once, less at the period's end.
func TestOrderTakesEffect(t *testing.T) {
	for _, c := range []struct{ promise, had, until, tier, want string }{
		{"more, at once, for a year", "free", "", "white_label", "free white_label@2026-05-20 10:15 free@2027-05-20 10:15"},
		{"enterprise has no end of its own", "free", "", "enterprise", "free enterprise@2026-05-20 10:15"},
		{"more than a year that is running", "white_label", "2026-09-01 00:00", "enterprise",
			"free white_label@2026-01-01 00:00 enterprise@2026-05-20 10:15"},
		{"less, when the year is over", "white_label", "2026-09-01 00:00", "free",
			"free white_label@2026-01-01 00:00 free@2026-09-01 00:00"},
		{"less, when the month is over", "enterprise", "", "free", "free enterprise@2026-01-01 00:00 free@2026-06-01 00:00"},
		{"less and paid, when the month is over", "enterprise", "", "white_label",
			"free enterprise@2026-01-01 00:00 white_label@2026-06-01 00:00 free@2027-06-01 00:00"},
	} {
		a := storage.App{Tier: "free"}
		if c.had != "free" {
			until := time.Time{}
			if c.until != "" {
				until = at(c.until)
			}
			a.SetTier(c.had, at("2026-01-01 00:00"), until)
		}
		before := tiersOf(a)
		o := storage.Order{ID: "or1", Tier: c.tier, Status: storage.OrderPending}
		o, after, err := approve(o, a, "admin", at("2026-05-20 10:15"), time.Time{})
		if got := tiersOf(after); err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.promise, got, err, c.want)
		}
		if _, _, err := approve(o, after, "admin", at("2026-05-20 10:16"), time.Time{}); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("%s: approved twice: %v", c.promise, err)
		}
		// An order that has not begun can be taken back, and then all is as it was.
		canceled, back, err := cancel(o, after, "u1", at("2026-05-20 10:20"))
		if begun := !o.EffectiveAt.After(at("2026-05-20 10:20")); begun != errors.Is(err, storage.ErrInvalid) {
			t.Errorf("%s: canceled after it began: %v", c.promise, err)
		} else if !begun && (tiersOf(back) != before || canceled.Status != storage.OrderCanceled) {
			t.Errorf("%s: canceled it is %s, was %s", c.promise, tiersOf(back), before)
		}
	}
}

func TestOrderIsDecidedOnceHoweverManyDecide(t *testing.T) {
	store := openStore(t)
	app, err := store.SaveApp(t.Context(), storage.App{Name: "A", Owner: "u1"})
	if err != nil {
		t.Fatal(err)
	}
	o := storage.Order{ID: handle.NewOrderID(time.Now()), AppID: app.ID, Owner: "u1", Tier: "white_label",
		CreatedAt: time.Now()}
	o.Status, app.Order = storage.OrderPending, o.ID
	if o, app, err = store.SaveOrder(t.Context(), o, app); err != nil || app.Order != o.ID {
		t.Fatal(app.Order, err)
	}
	var won atomic.Int32
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			decided, after, err := approve(o, app, "admin", time.Now(), time.Time{})
			if i%2 == 0 {
				decided, after, err = reject(o, app, "admin", "no", time.Now())
			}
			if err != nil {
				t.Error(err)
			}
			if _, _, err = store.SaveOrder(t.Context(), decided, after); err == nil {
				won.Add(1)
			} else if !errors.Is(err, storage.ErrConflict) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	o, _ = store.Order(t.Context(), o.ID)
	app, _ = store.App(t.Context(), app.ID)
	if won.Load() != 1 || app.Order != "" ||
		(o.Status == storage.OrderApproved) != (app.TierAt(time.Now()) == "white_label") {
		t.Errorf("%d decided, it is %s, the application has %s and order %q", won.Load(), o.Status, tiersOf(app), app.Order)
	}
}

func TestTierGivenByHandCancelsTheOrderThatWaits(t *testing.T) {
	store := openStore(t)
	app, _ := store.SaveApp(t.Context(), storage.App{Name: "A", Owner: "u1"})
	o := storage.Order{ID: "or1", AppID: app.ID, Tier: "enterprise", Status: storage.OrderContact}
	app.Order = o.ID
	if _, app2, err := store.SaveOrder(t.Context(), o, app); err != nil {
		t.Fatal(err)
	} else {
		app = app2
	}
	b := newBilling(t, store)
	app, err := b.SetTier(t.Context(), app.ID, "white_label", "operator", time.Now().Add(time.Hour), nil)
	if err != nil || app.TierAt(time.Now()) != "white_label" || app.Order != "" {
		t.Fatal(app, err)
	}
	given, _, err := store.Orders(t.Context(), storage.OrderQuery{Status: storage.OrderApproved}, "", 10)
	if err != nil || len(given) != 1 || given[0].AmountFen != 0 || given[0].DecidedBy != "operator" {
		t.Fatal(given, err)
	}
	if o, _ = store.Order(t.Context(), "or1"); o.Status != storage.OrderCanceled {
		t.Errorf("the order that waited is %s", o.Status)
	}
	for _, bad := range []struct {
		tier  string
		until time.Time
	}{{"gold", time.Time{}}, {"", time.Time{}}, {"free", time.Now().Add(-time.Second)}} {
		if _, err := b.SetTier(t.Context(), app.ID, bad.tier, "operator", bad.until, nil); !errors.Is(err,
			storage.ErrInvalid) {
			t.Errorf("SetTier(%q, %v) = %v", bad.tier, bad.until, err)
		}
	}
}

func TestDebtOfAnApplicationOutlivesIt(t *testing.T) {
	store := openStore(t)
	app, _ := store.SaveApp(t.Context(), storage.App{Name: "A", Owner: "u1", Disabled: true})
	o := storage.Order{ID: "or1", AppID: app.ID, Tier: "enterprise", Status: storage.OrderContact}
	app.Order = o.ID
	_, app, err := store.SaveOrder(t.Context(), o, app)
	if err != nil {
		t.Fatal(err)
	}
	if err := newBilling(t, store).RemoveApp(t.Context(), app.ID); err != nil {
		t.Fatal(err)
	}
	left, err := store.ClosedApp(t.Context(), app.ID)
	if err != nil || left.Name != "A" || left.Owner != "u1" || !left.Disabled {
		t.Errorf("left is %+v, %v", left, err)
	}
	if o, _ = store.Order(t.Context(), "or1"); o.Status != storage.OrderCanceled {
		t.Errorf("its order is %s", o.Status)
	}
	if page, _, err := store.ClosedApps(t.Context(), "u1", "", 10); len(page) != 1 || err != nil {
		t.Error(page, err)
	}
	if err := store.DeleteApp(t.Context(), app, storage.Quota{}); !errors.Is(err, storage.ErrConflict) &&
		!errors.Is(err, storage.ErrExists) {
		t.Errorf("removed twice: %v", err)
	}
}

// Of two administrators who approve at once the second has read an old state, and gets a
// conflict, even if their clock is behind.
func TestSecondApprovalIsAConflict(t *testing.T) {
	store := openStore(t)
	app, err := store.SaveApp(t.Context(), storage.App{Name: "A", Owner: "u1"})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	o := storage.Order{ID: handle.NewOrderID(now), AppID: app.ID, Owner: "u1", Tier: "white_label", CreatedAt: now,
		Status: storage.OrderPending}
	app.Order = o.ID
	if o, app, err = store.SaveOrder(t.Context(), o, app); err != nil {
		t.Fatal(err)
	}
	for i, at := range []time.Time{now, now.Add(-time.Second)} {
		decided, after, err := approve(o, app, "admin", at, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err = store.SaveOrder(t.Context(), decided, after); i == 0 && err != nil || i == 1 &&
			!errors.Is(err, storage.ErrConflict) {
			t.Errorf("approval %d: %v", i+1, err)
		}
	}
}

func TestApplicationIsRemovedOnlyOnceItIsKnownWhatItUsed(t *testing.T) {
	store := openStore(t)
	app, err := store.SaveApp(t.Context(), storage.App{Name: "A", Owner: "u1"})
	if err != nil {
		t.Fatal(err)
	}
	trouble := errors.New("the ledger hangs")
	usage := func(context.Context, driver.UsageQuery) ([]driver.Count, error) {
		return []driver.Count{{At: time.Now(), Calls: 3}}, trouble
	}
	b, err := New(Config{Store: store, Usage: usage})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.RemoveApp(t.Context(), app.ID); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("while tokens may still open something: %v", err)
	}
	app.Disabled = true
	if _, err = store.SaveApp(t.Context(), app); err != nil {
		t.Fatal(err)
	}
	if err := b.RemoveApp(t.Context(), app.ID); !errors.Is(err, trouble) {
		t.Errorf("RemoveApp: %v", err)
	}
	if left, err := store.App(t.Context(), app.ID); err != nil || !left.Disabled {
		t.Errorf("left is %+v, %v", left, err)
	}
	trouble = nil
	if err := b.RemoveApp(t.Context(), app.ID); err != nil {
		t.Error(err)
	}
	if _, err := store.App(t.Context(), app.ID); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("it is still there: %v", err)
	}
}
