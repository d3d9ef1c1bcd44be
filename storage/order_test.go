package storage_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
)

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

func TestATierIsReadByTheClock(t *testing.T) {
	a := storage.App{Tier: "free"}
	a.SetTier("white_label", at("2026-03-10 12:30"), at("2027-03-10 12:30"))
	for when, want := range map[string]string{
		"2026-03-10 12:29": "free until 2026-03-10 12:30",
		"2026-03-10 12:30": "white_label until 2027-03-10 12:30",
		"2027-03-10 12:29": "white_label until 2027-03-10 12:30",
		"2027-03-10 12:30": "free until 0001-01-01 00:00",
	} {
		if got := a.TierAt(at(when)) + " until " + a.TierUntil(at(when)).Format("2006-01-02 15:04"); got != want {
			t.Errorf("at %s it is %s, want %s", when, got, want)
		}
	}
	if got := a.TierSince(at("2026-12-01 00:00")); !got.Equal(at("2026-03-10 12:30")) {
		t.Errorf("since %v", got)
	}
	a.SetTier("enterprise", at("2026-06-01 00:00"), time.Time{})
	a.SetTier("enterprise", at("2026-07-01 00:00"), time.Time{}) // changes nothing
	if got := tiersOf(a); got != "free white_label@2026-03-10 12:30 enterprise@2026-06-01 00:00" {
		t.Error(got)
	}
}

func TestTheHistoryOfTiersIsBoundedAndItsEndIsRight(t *testing.T) {
	a := storage.App{Name: "A", Tier: "free", Secrets: []storage.AppSecret{{Secret: storage.DrawSecret()}}}
	tiers := []string{"free", "white_label", "enterprise"}
	now := at("2026-01-01 00:00")
	for range 500 {
		now = now.Add(time.Duration(1+rand.IntN(48)) * time.Hour)
		tier := tiers[rand.IntN(3)]
		a.SetTier(tier, now, time.Time{})
		if a.TierAt(now) != tier || len(a.Tiers) > 50 {
			t.Fatalf("%d changes, %s, want %s", len(a.Tiers), a.TierAt(now), tier)
		}
		if err := a.Check(); err != nil {
			t.Fatal(err)
		}
	}
}

// Entry 30 of the decisions: white_label one year, more at once, less at the period's end.
func TestWhenAnOrderTakesEffect(t *testing.T) {
	for _, c := range []struct{ promise, had, until, tier, want string }{
		{"more, at once, for a year", "free", "", "white_label", "free white_label@2026-05-20 10:15 free@2027-05-20 10:15"},
		{"enterprise has no end of its own", "free", "", "enterprise", "free enterprise@2026-05-20 10:15"},
		{"more than a year that is running", "white_label", "2026-09-01 00:00", "enterprise", "free white_label@2026-01-01 00:00 enterprise@2026-05-20 10:15"},
		{"less, when the year is over", "white_label", "2026-09-01 00:00", "free", "free white_label@2026-01-01 00:00 free@2026-09-01 00:00"},
		{"less, when the month is over", "enterprise", "", "free", "free enterprise@2026-01-01 00:00 free@2026-06-01 00:00"},
		{"less and paid, when the month is over", "enterprise", "", "white_label", "free enterprise@2026-01-01 00:00 white_label@2026-06-01 00:00 free@2027-06-01 00:00"},
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
		o, after, err := o.Approve(a, "admin", at("2026-05-20 10:15"), time.Time{})
		if got := tiersOf(after); err != nil || got != c.want {
			t.Errorf("%s: %s, %v; want %s", c.promise, got, err, c.want)
		}
		if _, _, err := o.Approve(after, "admin", at("2026-05-20 10:16"), time.Time{}); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("%s: approved twice: %v", c.promise, err)
		}
		// What has not begun can be taken back, and then all is as it was.
		canceled, back, err := o.Cancel(after, "u1", at("2026-05-20 10:20"))
		if begun := !o.EffectiveAt.After(at("2026-05-20 10:20")); begun != errors.Is(err, storage.ErrInvalid) {
			t.Errorf("%s: canceled after it began: %v", c.promise, err)
		} else if !begun && (tiersOf(back) != before || canceled.Status != storage.OrderCanceled) {
			t.Errorf("%s: canceled it is %s, was %s", c.promise, tiersOf(back), before)
		}
	}
}

func TestAnOrderIsDecidedOnceHoweverManyDecide(t *testing.T) {
	store, _ := open(t)
	app, err := store.SaveApp(t.Context(), storage.App{Name: "A", Owner: "u1"})
	if err != nil {
		t.Fatal(err)
	}
	o := storage.Order{ID: storage.NewOrderID(time.Now()), AppID: app.ID, Owner: "u1", Tier: "white_label", CreatedAt: time.Now()}
	o, app = o.Wait(app, storage.OrderPending)
	if o, app, err = store.SaveOrder(t.Context(), o, app); err != nil || app.Order != o.ID {
		t.Fatal(app.Order, err)
	}
	var won atomic.Int32
	var all sync.WaitGroup
	for i := range 30 {
		all.Go(func() {
			decided, after, err := o.Approve(app, "admin", time.Now(), time.Time{})
			if i%2 == 0 {
				decided, after, err = o.Reject(app, "admin", "no", time.Now())
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
	if won.Load() != 1 || app.Order != "" || (o.Status == storage.OrderApproved) != (app.TierAt(time.Now()) == "white_label") {
		t.Errorf("%d decided, it is %s, the application has %s and order %q", won.Load(), o.Status, tiersOf(app), app.Order)
	}
}

func TestATierGivenByHandCancelsTheOrderThatWaits(t *testing.T) {
	store, _ := open(t)
	app, _ := store.SaveApp(t.Context(), storage.App{Name: "A", Owner: "u1"})
	o, app := storage.Order{ID: "or1", AppID: app.ID, Tier: "enterprise"}.Wait(app, storage.OrderContact)
	if _, app2, err := store.SaveOrder(t.Context(), o, app); err != nil {
		t.Fatal(err)
	} else {
		app = app2
	}
	given, app, err := store.SetTier(t.Context(), app, "white_label", "operator", time.Now(), time.Now().Add(time.Hour))
	if err != nil || given.Status != storage.OrderApproved || given.AmountFen != 0 || app.Order != "" {
		t.Fatal(given, err)
	}
	if o, _ = store.Order(t.Context(), "or1"); o.Status != storage.OrderCanceled {
		t.Errorf("the order that waited is %s", o.Status)
	}
	for _, bad := range []struct {
		tier  string
		until time.Time
	}{{"gold", time.Time{}}, {"", time.Time{}}, {"free", time.Now().Add(-time.Second)}} {
		if _, _, err := store.SetTier(t.Context(), app, bad.tier, "operator", time.Now(), bad.until); !errors.Is(err, storage.ErrInvalid) {
			t.Errorf("SetTier(%q, %v) = %v", bad.tier, bad.until, err)
		}
	}
}

func TestOrdersAreListedByWhoseTheyAreAndInPages(t *testing.T) {
	store, _ := open(t)
	app, _ := store.SaveApp(t.Context(), storage.App{Name: "A"})
	for i := range 25 {
		o := storage.Order{ID: fmt.Sprintf("or%02d", i), AppID: fmt.Sprintf("ks%d", i%2), Owner: fmt.Sprintf("u%d", i%3), Tier: "free", Status: storage.OrderRejected}
		var err error
		if _, app, err = store.SaveOrder(t.Context(), o, app); err != nil {
			t.Fatal(err)
		}
	}
	for q, want := range map[storage.OrderQuery]int{
		{}: 25, {Owner: "u0"}: 9, {AppID: "ks1"}: 12, {Owner: "u0", AppID: "ks1"}: 4, {Owner: "u"}: 0,
		{Status: storage.OrderRejected}: 25, {Owner: "u1", Status: storage.OrderPending}: 0,
	} {
		var ids []string
		for after := ""; ; {
			page, next, err := store.Orders(t.Context(), q, after, 4)
			if err != nil || len(page) > 4 {
				t.Fatal(len(page), err)
			}
			for _, o := range page {
				ids = append(ids, o.ID)
			}
			if after = next; next == "" {
				break
			}
		}
		if sorted := slices.Compact(slices.Sorted(slices.Values(ids))); len(ids) != want || !slices.Equal(ids, sorted) {
			t.Errorf("%+v: %v, want %d", q, ids, want)
		}
	}
}

// Entry 29 of the decisions.
func TestAnOwnerHasAtMostSoManyApplicationsHoweverManyAreMadeAtOnce(t *testing.T) {
	store, _ := open(t)
	var made, refused atomic.Int32
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			_, err := store.CreateApp(t.Context(), storage.App{Name: fmt.Sprint(i), Owner: "u1"}, 10, storage.Quota{})
			switch {
			case err == nil:
				made.Add(1)
			case errors.Is(err, storage.ErrFull):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if owned, _, err := store.Apps(t.Context(), "u1", "", 100); made.Load() != 10 || refused.Load() != 30 || len(owned) != 10 || err != nil {
		t.Errorf("%d made, %d refused, %d there, %v", made.Load(), refused.Load(), len(owned), err)
	}
	if _, err := store.CreateApp(t.Context(), storage.App{Name: "x", Owner: "u2"}, 10, storage.Quota{}); err != nil {
		t.Errorf("somebody else: %v", err)
	}
	if _, err := store.CreateApp(t.Context(), storage.App{Owner: "u2"}, 10, storage.Quota{}); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("one without a name: %v", err)
	}
}

func TestWhatAnApplicationOwesOutlivesIt(t *testing.T) {
	store, _ := open(t)
	app, _ := store.SaveApp(t.Context(), storage.App{Name: "A", Owner: "u1"})
	o, app := storage.Order{ID: "or1", AppID: app.ID, Tier: "enterprise"}.Wait(app, storage.OrderContact)
	_, app, err := store.SaveOrder(t.Context(), o, app)
	if err != nil {
		t.Fatal(err)
	}
	if err := store.DeleteApp(t.Context(), app, storage.Quota{}); err != nil {
		t.Fatal(err)
	}
	left, err := store.ClosedApp(t.Context(), app.ID)
	if err != nil || left.App().Name != "A" || left.Owner != "u1" || !left.App().Disabled {
		t.Errorf("left is %+v, %v", left, err)
	}
	if o, _ = store.Order(t.Context(), "or1"); o.Status != storage.OrderCanceled {
		t.Errorf("its order is %s", o.Status)
	}
	if page, _, err := store.ClosedApps(t.Context(), "u1", "", 10); len(page) != 1 || err != nil {
		t.Error(page, err)
	}
	if err := store.DeleteApp(t.Context(), app, storage.Quota{}); !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrExists) {
		t.Errorf("removed twice: %v", err)
	}
}

func TestSecretsRotateWithAnOverlapAndNotWithoutEnd(t *testing.T) {
	now := at("2026-05-20 10:15")
	a := storage.App{ID: "ks1", Secrets: []storage.AppSecret{{Secret: storage.DrawSecret()}}}
	first := a.AppKey().Reveal()
	if err := a.RotateSecret(now, time.Hour); err != nil || len(a.Secrets) != 2 {
		t.Fatal(len(a.Secrets), err)
	}
	if !a.Authenticates(first, now.Add(59*time.Minute)) || a.Authenticates(first, now.Add(time.Hour)) || a.AppKey().Equal(first) {
		t.Error("the old secret is not valid for the overlap and no longer")
	}
	second := a.AppKey().Reveal()
	if err := a.RotateSecret(now, 24*time.Hour); err != nil || len(a.Secrets) != 2 {
		t.Errorf("rotated again, %d secrets are valid, %v; want the new one and the one before", len(a.Secrets), err)
	}
	if a.Authenticates(first, now) || !a.Authenticates(second, now.Add(23*time.Hour)) {
		t.Error("rotated again, the oldest does not end at once, or the one before it does")
	}
	many := storage.App{ID: "ks2"} // as an older version may have left it
	for i := range 10 {
		many.Secrets = append(many.Secrets, storage.AppSecret{Secret: storage.DrawSecret(), ExpiresAt: now.Add(time.Duration(1+i) * time.Hour)})
	}
	if err := many.RotateSecret(now, time.Hour); err != nil || len(many.Secrets) != 2 {
		t.Errorf("of ten secrets, %d are valid after a rotation, %v", len(many.Secrets), err)
	}
	if err := a.RotateSecret(now, 0); err != nil || len(a.Secrets) != 1 {
		t.Errorf("without an overlap: %d, %v", len(a.Secrets), err)
	}
	if err := (&storage.App{Public: true}).RotateSecret(now, 0); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("a public application: %v", err)
	}
}

// Entry 3 of the decisions: who has no appkey is never signed for with one.
func TestWhatAnApplicationDoesNotSayIsTheDefault(t *testing.T) {
	for _, c := range []struct {
		app  storage.App
		want string
	}{
		{storage.App{}, "HS256"}, {storage.App{IDTokenAlg: "EdDSA"}, "EdDSA"},
		{storage.App{Public: true}, "ES256"}, {storage.App{Public: true, IDTokenAlg: "RS256"}, "RS256"}, {storage.App{Public: true, IDTokenAlg: "HS256"}, "ES256"},
	} {
		if got := c.app.SignsIDTokensWith(); got != c.want {
			t.Errorf("%+v signs with %s, want %s", c.app, got, c.want)
		}
	}
	zero := 0
	if one, none := (storage.App{}).SuccessCode(), (storage.App{LegacySuccessCode: &zero}).SuccessCode(); one != 1 || none != 0 {
		t.Errorf("success is %d, and %d where 0 is asked for", one, none)
	}
}

// Two administrators who approve at once: whoever comes second has read what is no more, and
// is told so, also if their clock is behind.
func TestWhoApprovesSecondIsToldOfAConflict(t *testing.T) {
	store, _ := open(t)
	app, err := store.SaveApp(t.Context(), storage.App{Name: "A", Owner: "u1"})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	o, app := storage.Order{ID: storage.NewOrderID(now), AppID: app.ID, Owner: "u1", Tier: "white_label", CreatedAt: now}.Wait(app, storage.OrderPending)
	if o, app, err = store.SaveOrder(t.Context(), o, app); err != nil {
		t.Fatal(err)
	}
	for i, at := range []time.Time{now, now.Add(-time.Second)} {
		decided, after, err := o.Approve(app, "admin", at, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err = store.SaveOrder(t.Context(), decided, after); i == 0 && err != nil || i == 1 && !errors.Is(err, storage.ErrConflict) {
			t.Errorf("approval %d: %v", i+1, err)
		}
	}
}
