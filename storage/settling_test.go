package storage_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// shops are applications of two owners, each with some orders, in the order of their ids.
func shops(t *testing.T, s *storage.Store) (all []storage.App, orders map[string][]storage.Order) {
	orders = map[string][]storage.Order{}
	for i := range 14 {
		a, err := s.SaveApp(t.Context(), storage.App{Name: fmt.Sprint("Shop ", i), Domains: []string{"a.example.com"},
			Owner: []string{"u1", "u2"}[i%2]})
		if err != nil {
			t.Fatal(err)
		}
		n := i % 4
		if i == 5 {
			n = 60
		}
		for range n {
			o := storage.Order{ID: handle.NewOrderID(time.Now()), AppID: a.ID, Owner: a.Owner, From: "free", Tier: "white_label",
				Status: storage.OrderRejected, CreatedAt: time.Now()}
			if o, a, err = s.SaveOrder(t.Context(), o, a); err != nil {
				t.Fatal(err)
			}
			orders[a.ID] = append(orders[a.ID], o)
		}
		all = append(all, a)
	}
	slices.SortFunc(all, func(x, y storage.App) int { return cmp.Compare(x.ID, y.ID) })
	return all, orders
}

// checkSettling holds a page to the applications that it should have, and to their orders where it has them all.
func checkSettling(t *testing.T, page storage.Settling, want []storage.App, orders map[string][]storage.Order) {
	t.Helper()
	var all []string
	for i, a := range page.Apps {
		if len(page.Apps) != len(want) || a.ID != want[i].ID || a.Owner != want[i].Owner || a.Name != want[i].Name {
			t.Fatalf("a page has %v, want %v", page.Apps, want)
		}
		for _, o := range orders[a.ID] {
			all = append(all, o.ID)
		}
	}
	var got []string
	for _, o := range page.Orders {
		if !slices.ContainsFunc(want, func(a storage.App) bool { return a.ID == o.AppID }) {
			t.Errorf("an order of %s is among those of others", o.AppID)
		}
		got = append(got, o.ID)
	}
	slices.Sort(all)
	slices.Sort(got)
	if page.Whole && !slices.Equal(got, all) {
		t.Errorf("%d orders are said to be all of %d", len(got), len(all))
	}
}

// Pages of what is to be settled have each application once, and all of their orders or say that they have not.
func TestPagesOfSettlementsHaveTheOrdersOfTheirApplications(t *testing.T) {
	eachWay(t, func(t *testing.T, s *storage.Store, calls func() int) {
		all, orders := shops(t, s)
		for _, owner := range []string{"", "u1", "u2"} {
			for _, n := range []int{1, 3, 5, 14, 20} {
				left := slices.DeleteFunc(slices.Clone(all), func(a storage.App) bool { return owner != "" && a.Owner != owner })
				after, whole := "", 0
				for len(left) > 0 {
					if calls != nil {
						calls()
					}
					page, err := s.AppsToSettle(t.Context(), owner, after, n)
					if err != nil || page.Closed {
						t.Fatal(page, err)
					}
					if calls != nil && calls() != 1 {
						t.Error("a page takes more than one call")
					}
					checkSettling(t, page, left[:min(n, len(left))], orders)
					if left = left[len(page.Apps):]; (page.Next == "") != (len(left) == 0) {
						t.Errorf("the next is %q, where %d are left", page.Next, len(left))
					}
					after = page.Apps[len(page.Apps)-1].ID
					if page.Whole {
						whole++
					}
				}
				if whole == 0 && n == 20 || whole > 0 && n == 5 && owner == "u2" { // who has 72 orders
					t.Errorf("%d pages of %d of %q have all orders", whole, n, owner)
				}
			}
		}
		for _, a := range all {
			if err := s.DeleteApp(t.Context(), a, storage.Quota{}); err != nil {
				t.Fatal(err)
			}
			one, err := s.AppToSettle(t.Context(), a.ID)
			if err != nil || !one.Whole {
				t.Errorf("a removed one: %v, %v", one, err)
			}
			checkSettling(t, one, []storage.App{a}, orders)
		}
		if page, err := s.AppsToSettle(t.Context(), "", "", 3); err != nil || len(page.Apps) > 0 || !page.Closed {
			t.Errorf("all were removed, and the page is %+v, %v", page, err)
		}
		first, err := s.ClosedAppsToSettle(t.Context(), "", "", 4)
		second, err2 := s.ClosedAppsToSettle(t.Context(), "", all[3].ID, 20)
		if err := errors.Join(err, err2); err != nil || first.Next == "" || second.Next != "" {
			t.Fatal(first, second, err)
		}
		checkSettling(t, first, all[:4], orders)
		checkSettling(t, second, all[4:], orders)
	})
}

func TestApplicationIsReadWithItsOrdersInOneCall(t *testing.T) {
	eachWay(t, func(t *testing.T, s *storage.Store, calls func() int) {
		all, orders := shops(t, s)
		for _, a := range all {
			if calls != nil {
				calls()
			}
			one, err := s.AppToSettle(t.Context(), a.ID)
			if err != nil || !one.Whole || calls != nil && calls() != 1 {
				t.Fatal(one, err)
			}
			checkSettling(t, one, []storage.App{a}, orders)
		}
		for _, id := range []string{"nobody", "", "\xff", driver.Separator} {
			if _, err := s.AppToSettle(t.Context(), id); !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("%q: %v", id, err)
			}
		}
	})
}

func TestOwnedRecordsAreReadInOneCall(t *testing.T) {
	eachWay(t, func(t *testing.T, s *storage.Store, calls func() int) {
		_, orders := shops(t, s)
		if _, err := s.SaveCapability(t.Context(), storage.Capability{Member: "shop", Kind: storage.CapabilityREST,
			UpstreamURL: "https://up.example.com", Owner: "u2"}, nil); err != nil {
			t.Fatal(err)
		}
		if calls != nil {
			calls()
		}
		apps, more, its, caps, err := s.OwnedBy(t.Context(), "u2", 3, 100, 1)
		if err != nil || len(apps) != 3 || !more || len(caps) != 1 || caps[0].Member != "shop" || calls != nil &&
			calls() != 1 {
			t.Errorf("OwnedBy = %v, %v, %v, %v", apps, more, caps, err)
		}
		n := 0
		for _, some := range orders {
			if some[0].Owner == "u2" {
				n += len(some)
			}
		}
		if len(its) != n || slices.ContainsFunc(its, func(o storage.Order) bool { return o.Owner != "u2" }) {
			t.Errorf("%d orders, want %d of u2", len(its), n)
		}
		if apps, more, its, caps, err = s.OwnedBy(t.Context(), "u1", 7, 1, 0); err != nil || len(apps) != 7 || more ||
			len(its) != 1 || len(caps) > 0 {
			t.Errorf("OwnedBy = %v, %v, %v, %v, %v", apps, more, its, caps, err)
		}
		for _, owner := range []string{"", "u", "u1" + driver.Separator} {
			if apps, _, its, caps, err = s.OwnedBy(t.Context(), owner, 7, 1, 1); err != nil || len(apps)+len(its)+len(caps) > 0 {
				t.Errorf("OwnedBy(%q) = %v, %v, %v, %v", owner, apps, its, caps, err)
			}
		}
	})
}
