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

func TestTierIsReadByTheClock(t *testing.T) {
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

func TestHistoryOfTiersIsBoundedAndItsEndIsRight(t *testing.T) {
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

func TestOrdersAreListedByWhoseTheyAreAndInPages(t *testing.T) {
	store, _ := open(t)
	app, _ := store.SaveApp(t.Context(), storage.App{Name: "A"})
	for i := range 25 {
		o := storage.Order{ID: fmt.Sprintf("or%02d", i), AppID: fmt.Sprintf("ks%d", i%2), Owner: fmt.Sprintf("u%d", i%3),
			Tier: "free", Status: storage.OrderRejected}
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

// Decision 29.
func TestOwnerHasAtMostSoManyApplicationsHoweverManyAreMadeAtOnce(t *testing.T) {
	store, _ := open(t)
	var made, refused atomic.Int32
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			_, err := store.CreateApp(t.Context(), storage.App{Name: fmt.Sprint(i), Owner: "u1"}, 10, storage.Quota{})
			switch {
			case err == nil:
				made.Add(1)
			case errors.Is(err, storage.ErrTooManyApps):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if owned, _, err := store.Apps(t.Context(), "u1", "", 100); made.Load() != 10 || refused.Load() != 30 ||
		len(owned) != 10 || err != nil {
		t.Errorf("%d made, %d refused, %d there, %v", made.Load(), refused.Load(), len(owned), err)
	}
	if _, err := store.CreateApp(t.Context(), storage.App{Name: "x", Owner: "u2"}, 10, storage.Quota{}); err != nil {
		t.Errorf("somebody else: %v", err)
	}
	if _, err := store.CreateApp(t.Context(), storage.App{Owner: "u2"}, 10, storage.Quota{}); !errors.Is(err,
		storage.ErrInvalid) {
		t.Errorf("one without a name: %v", err)
	}
}

func TestSecretsRotateWithAnOverlapAndNotWithoutEnd(t *testing.T) {
	now := at("2026-05-20 10:15")
	a := storage.App{ID: "ks1", Secrets: []storage.AppSecret{{Secret: storage.DrawSecret()}}}
	first := a.AppKey().Reveal()
	if err := a.RotateSecret(now, time.Hour); err != nil || len(a.Secrets) != 2 {
		t.Fatal(len(a.Secrets), err)
	}
	if !a.Authenticates(first, now.Add(59*time.Minute)) || a.Authenticates(first, now.Add(time.Hour)) ||
		a.AppKey().Equal(first) {
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
		many.Secrets = append(many.Secrets, storage.AppSecret{Secret: storage.DrawSecret(),
			ExpiresAt: now.Add(time.Duration(1+i) * time.Hour)})
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

// Decision 3: who has no appkey is never signed for with one.
func TestOmittedFieldsHaveTheirDefaults(t *testing.T) {
	for _, c := range []struct {
		app  storage.App
		want string
	}{
		{storage.App{}, "HS256"}, {storage.App{IDTokenAlg: "EdDSA"}, "EdDSA"},
		{storage.App{Public: true}, "ES256"}, {storage.App{Public: true, IDTokenAlg: "RS256"}, "RS256"},
		{storage.App{Public: true, IDTokenAlg: "HS256"}, "ES256"},
	} {
		if got := c.app.SignsIDTokensWith(); got != c.want {
			t.Errorf("%+v signs with %s, want %s", c.app, got, c.want)
		}
	}
	zero := 0
	if one, none := (storage.App{}).SuccessCode(), (storage.App{LegacySuccessCode: &zero}).SuccessCode(); one != 1 ||
		none != 0 {
		t.Errorf("success is %d, and %d where 0 is asked for", one, none)
	}
}
