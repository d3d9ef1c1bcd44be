package storage_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// A stretch of applications has the orders of those in it, page by page, and a place of another list leads nowhere.
func TestOrdersOfAStretchOfApplications(t *testing.T) {
	s := opened(t, memory.New(), storage.NewMasterKey())
	var ids []string
	for i := range 6 {
		a, err := s.SaveApp(t.Context(), storage.App{Name: fmt.Sprint("Shop ", i), Domains: []string{"a.example.com"}})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, a.ID)
		for range i {
			o := storage.Order{ID: handle.NewOrderID(time.Now()), AppID: a.ID, From: "free", Tier: "white_label",
				Status: storage.OrderRejected, CreatedAt: time.Now()}
			if _, a, err = s.SaveOrder(t.Context(), o, a); err != nil {
				t.Fatal(err)
			}
		}
	}
	sorted := slices.Sorted(slices.Values(ids))
	first, last := sorted[1], sorted[4]
	want, got := map[string]int{}, map[string]int{}
	for i, id := range ids {
		if id >= first && id <= last && i > 0 {
			want[id] = i
		}
	}
	for from, pages := "", 0; pages == 0 || from != ""; pages++ {
		page, next, err := s.OrdersOfApps(t.Context(), first, last, from, 2)
		if err != nil || len(page) > 2 {
			t.Fatal(page, err)
		}
		for _, o := range page {
			got[o.AppID]++
		}
		from = next
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the orders are of %v, want %v", got, want)
	}
	if _, _, err := s.OrdersOfApps(t.Context(), first, last, driver.After("status="+storage.OrderRejected, "x"),
		2); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("a place of another list: %v", err)
	}
	if page, _, err := s.OrdersOfApps(t.Context(), last, first, "", 2); len(page) > 0 || err != nil {
		t.Errorf("a stretch that ends before it begins: %v %v", page, err)
	}
}

// A store whose adapter has no UsageOf answers the same, one by one.
func TestUsageOfSeveralApplicationsWithoutMeters(t *testing.T) {
	s := opened(t, memory.New(), storage.NewMasterKey())
	hour := driver.Hour(time.Now())
	if err := s.Count(t.Context(), driver.Batch{Node: "n", Seq: 1},
		[]driver.Count{{AppID: "b", Product: "ai", At: hour, Calls: 2},
			{AppID: "a", Product: "ai", At: hour, Calls: 1}}); err != nil {
		t.Fatal(err)
	}
	q := driver.UsageQuery{From: hour, To: hour.Add(time.Hour)}
	rows, err := s.UsageOf(t.Context(), []string{"b", "nobody", "a", "b"}, q)
	if err != nil || len(rows) != 2 || rows[0].AppID != "a" || rows[1].AppID != "b" || rows[1].Calls != 2 {
		t.Errorf("rows are %v, %v", rows, err)
	}
	if _, err := s.UsageOf(t.Context(), make([]string, driver.MaxMeters+1), q); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("too many applications: %v", err)
	}
}
