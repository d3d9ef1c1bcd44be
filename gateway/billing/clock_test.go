package billing_test

import (
	"testing"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

// ahead is a store whose own clock is ahead of that of the machine.
type ahead struct {
	*storage.Store
	by time.Duration
}

func (a ahead) Later(now time.Time) time.Time { return now.Add(a.by) }

func TestTierBeginsByTheClockOfTheStore(t *testing.T) {
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	app, err := store.SaveApp(t.Context(), storage.App{Name: "A", Domains: []string{"a.example"}})
	if err != nil {
		t.Fatal(err)
	}
	clock := ahead{store, time.Hour}
	b, err := billing.New(billing.Config{Store: clock})
	if err != nil {
		t.Fatal(err)
	}
	before := clock.Later(time.Now())
	if app, err = b.SetTier(t.Context(), app.ID, storage.TierEnterprise, "operator", time.Time{}, nil); err != nil {
		t.Fatal(err)
	}
	if since := app.TierSince(clock.Later(time.Now())); since.Before(before.Truncate(time.Second)) {
		t.Errorf("the tier began at %v, before %v by the clock of the store", since, before)
	}
	if tier := app.TierAt(before.Add(-time.Minute)); tier != storage.TierFree {
		t.Errorf("a minute before the tier was %s, want free", tier)
	}
}
