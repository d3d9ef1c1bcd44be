package storage_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// usedUp is a day or a month with so many calls.
func usedUp(period string, calls int64, at time.Time) storage.Quota {
	until := driver.Day(at).AddDate(0, 0, 1)
	if period == "month" {
		until = time.Date(at.Year(), at.Month()+1, 1, 0, 0, 0, 0, time.UTC)
	}
	return storage.Quota{Period: period, Until: until, Calls: calls}
}

func over(t *testing.T, backend driver.Backend) *storage.Store {
	t.Helper()
	store, err := storage.Open(t.Context(), backend, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// remove makes an application of u1's and removes it with so many calls made.
func remove(t *testing.T, store *storage.Store, used storage.Quota) {
	t.Helper()
	app, err := store.SaveApp(t.Context(), storage.App{Name: "gone", Owner: "u1"})
	if err == nil {
		err = store.DeleteApp(t.Context(), app, used)
	}
	if err != nil {
		t.Error(err)
	}
}

// carried makes an application for an owner and returns how much usage it starts with.
func carried(t *testing.T, store *storage.Store, owner string, limit storage.Quota) int64 {
	t.Helper()
	app, err := store.CreateApp(t.Context(), storage.App{Name: "new", Owner: owner}, 0, limit)
	if err != nil {
		t.Error(err)
	}
	if app, err = store.App(t.Context(), app.ID); err != nil {
		t.Error(err)
	}
	return app.UsedBefore(limit)
}

func TestQuotaUsedByARemovedApplicationCountsForLaterOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, now := over(t, memory.New()), time.Now().UTC()
		for range 3 {
			remove(t, store, usedUp("day", 900, now))
		}
		remove(t, store, usedUp("month", 70, now))
		day, month := usedUp("day", 1000, now), usedUp("month", 50, now)
		if got := carried(t, store, "u2", day); got != 0 {
			t.Errorf("somebody else starts with %d", got)
		}
		if got := carried(t, store, "u1", usedUp("day", -1, now)); got != 0 {
			t.Errorf("one without a limit starts with %d", got)
		}
		for i, want := range []int64{1000, 1000, 700, 0} {
			if got := carried(t, store, "u1", day); got != want {
				t.Errorf("%d starts with %d, want %d", i+1, got, want)
			}
		}
		for i, want := range []int64{50, 20, 0} {
			if got := carried(t, store, "u1", month); got != want {
				t.Errorf("%d of the month starts with %d, want %d", i+1, got, want)
			}
		}
	})
}

func TestQuotaUsedEndsAtTheReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // begins at 2000-01-01T00:00:00Z
		time.Sleep(30*24*time.Hour + 23*time.Hour + 59*time.Minute + 59*time.Second) // the day and the month end in a second
		backend := memory.New()
		store, now := over(t, backend), time.Now().UTC()
		remove(t, store, usedUp("day", 400, now))
		remove(t, store, usedUp("month", 30, now))
		if got := carried(t, store, "u1", usedUp("day", 100, now)); got != 100 {
			t.Errorf("a second before the reset, a new one starts with %d, want 100", got)
		}
		if got := carried(t, store, "u1", usedUp("month", 10, now)); got != 10 {
			t.Errorf("and one of the month with %d, want 10", got)
		}
		time.Sleep(time.Second)
		for _, period := range []string{"day", "month"} {
			if got := carried(t, store, "u1", usedUp(period, 100, time.Now())); got != 0 {
				t.Errorf("at the reset, a new one starts with %d of the %s", got, period)
			}
		}
		if _, err := store.Sweep(t.Context(), time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := backend.Get(t.Context(), "spent", "u1"); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("after the reset it is kept: %v", err)
		}
		remove(t, store, usedUp("day", 5, now)) // computed before the reset, written after it
		if _, err := backend.Get(t.Context(), "spent", "u1"); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("what was over already was written: %v", err)
		}
	})
}

func TestQuotaIsNotRenewedByRemovingAndMakingApplications(t *testing.T) {
	store, _ := open(t)
	now := time.Now().UTC()
	limit := usedUp("day", 100, now)
	var taken atomic.Int64
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { remove(t, store, usedUp("day", 60, now)) })
		all.Go(func() { taken.Add(carried(t, store, "u1", limit)) })
	}
	all.Wait()
	for range 10 {
		taken.Add(carried(t, store, "u1", limit))
	}
	if taken.Load() != 600 {
		t.Errorf("of 600 calls made, %d were carried over", taken.Load())
	}
}

func TestRemovingAnApplicationAndKeepingWhatItUsedIsOneStep(t *testing.T) {
	backend := &puts{Backend: memory.New()}
	store, now := over(t, backend), time.Now().UTC()
	backend.all = nil
	remove(t, store, usedUp("day", 60, now))
	carried(t, store, "u1", usedUp("day", 100, now))
	want := []map[string]bool{{"format": true}, {"app": true, "counter": true},
		{"app": true, "counter": true, "closedapp": true, "spent": true},
		{"app": true, "counter": true, "appfence": true, "spent": true}}
	if len(backend.all) != len(want) {
		t.Fatalf("%d writes: %v", len(backend.all), backend.all)
	}
	for i, kinds := range want {
		for kind := range kinds {
			if !backend.all[i][kind] || len(backend.all[i]) != len(kinds) {
				t.Errorf("write %d was of %v, want %v", i+1, backend.all[i], kinds)
			}
		}
	}
	// One that breaks off does neither.
	app, err := store.SaveApp(t.Context(), storage.App{Name: "A", Owner: "u1"})
	if err != nil {
		t.Fatal(err)
	}
	backend.broken = true
	if err := store.DeleteApp(t.Context(), app, usedUp("day", 60, now)); err == nil {
		t.Fatal("removed without a store")
	}
	backend.broken = false
	if _, err := store.App(t.Context(), app.ID); err != nil {
		t.Error(err)
	}
	if got := carried(t, store, "u1", usedUp("day", 100, now)); got != 0 {
		t.Errorf("what was not removed counts for %d", got)
	}
}

// A request that removes or makes an application reads what was used before it writes; another
// one does the same in between.
func TestQuotaIsKeptWhenAnotherRemovesItMeanwhile(t *testing.T) {
	for name, known := range map[string]int64{"the first of a period": 0, "one more": 10} {
		t.Run(name, func(t *testing.T) {
			backend := &puts{Backend: memory.New()}
			store, now := over(t, backend), time.Now().UTC()
			if known > 0 {
				remove(t, store, usedUp("day", known, now))
			}
			backend.before = func() { remove(t, store, usedUp("day", 20, now)) }
			remove(t, store, usedUp("day", 30, now))
			backend.before = func() { remove(t, store, usedUp("day", 40, now)) }
			if got, want := carried(t, store, "u1", usedUp("day", 1000, now)), 90+known; got != want {
				t.Errorf("the next one starts with %d, want %d", got, want)
			}
			if got := carried(t, store, "u1", usedUp("day", 1000, now)); got != 0 {
				t.Errorf("and the one behind it with %d", got)
			}
		})
	}
}

// puts notes the kinds of documents that each write holds.
type puts struct {
	driver.Backend
	all    []map[string]bool
	broken bool
	before func() // the next write of what was used; once
}

func (p *puts) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if p.broken {
		return 0, storage.ErrUnavailable
	}
	kinds := map[string]bool{}
	for _, d := range docs {
		kinds[d.Kind] = true
	}
	p.all = append(p.all, kinds)
	if before := p.before; before != nil && kinds["spent"] {
		p.before = nil
		before()
	}
	return p.Backend.Put(ctx, docs...)
}
