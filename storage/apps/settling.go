package apps

import (
	"context"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// Settling holds applications, and what a settlement of them needs besides their usage.
type Settling struct {
	Apps   []App
	Next   string  // as of Apps and ClosedApps; "": these were the last
	Closed bool    // there are applications that were removed
	Orders []Order // of these applications
	Whole  bool    // Orders has all of them; false: there are so many that they were not read along
}

// beside bounds how many orders are read along with a page, for each of its applications.
const beside = 5

// AppsToSettle returns a page of the applications behind the one with an id, "" from the first on: all, or
// those of an owner (a sub).
func (s *Store) AppsToSettle(ctx context.Context, owner, after string, n int) (Settling, error) {
	out, closed, next := Settling{}, []closedApp(nil), ""
	err := document.Gather(ctx, s.docs, document.Listed(s.docs, Apps, behindApp(owner, after), n, &out.Apps, &out.Next),
		document.Listed(s.docs, closedApps, behindApp(owner, ""), 1, &closed, &next), out.along(s, owner, after, n))
	out.Closed = len(closed) > 0
	return out.only(), err
}

// ClosedAppsToSettle is AppsToSettle for applications that were removed.
func (s *Store) ClosedAppsToSettle(ctx context.Context, owner, after string, n int) (Settling, error) {
	out, closed := Settling{Closed: true}, []closedApp(nil)
	err := document.Gather(ctx, s.docs, document.Listed(s.docs, closedApps, behindApp(owner, after), n, &closed,
		&out.Next), out.along(s, owner, after, n))
	for _, c := range closed {
		out.Apps = append(out.Apps, c.app())
	}
	return out.only(), err
}

// AppToSettle returns one application, also one that was removed, or ErrNotFound.
func (s *Store) AppToSettle(ctx context.Context, id string) (out Settling, err error) {
	if !driver.ValidName(id) {
		return out, document.ErrNotFound
	}
	var closed []closedApp
	next := ""
	err = document.Gather(ctx, s.docs, document.Named(s.docs, Apps, []string{id}, &out.Apps),
		document.Named(s.docs, closedApps, []string{id}, &closed),
		document.Listed(s.docs, Orders, driver.Is("app="+id), driver.Page/2, &out.Orders, &next))
	if len(out.Apps) == 0 && len(closed) > 0 {
		out.Apps = []App{closed[0].app()}
	}
	if err == nil && len(out.Apps) == 0 {
		err = document.ErrNotFound
	}
	out.Whole = next == ""
	return out, err
}

func behindApp(owner, after string) driver.Span {
	entry := "all"
	if owner != "" {
		entry = "owner=" + owner
	}
	span := driver.Is(entry)
	if after != "" {
		span.From = driver.After(entry, after)
	}
	return span
}

// along reads orders along with a page of n applications: the first of their owner, or those of the
// applications behind an id, in their order.
func (x *Settling) along(s *Store, owner, after string, n int) document.Reading {
	span := driver.Between("app=", "app>")
	switch {
	case owner != "":
		span = driver.Is("owner=" + owner)
	case after != "":
		span.From = driver.Is("app=" + after).To
	}
	next := ""
	r := document.Listed(s.docs, Orders, span, beside*n, &x.Orders, &next)
	take := r.Take
	r.Take = func(a driver.Answer) error {
		err := take(a)
		x.Whole = next == ""
		if last := len(x.Orders) - 1; owner == "" && last >= 0 && len(x.Apps) > 0 {
			x.Whole = x.Whole || x.Orders[last].AppID > x.Apps[len(x.Apps)-1].ID
		}
		return err
	}
	return r
}

// only leaves out the orders of other applications.
func (x Settling) only() Settling {
	of := make(map[string]bool, len(x.Apps))
	for _, a := range x.Apps {
		of[a.ID] = true
	}
	var its []Order
	for _, o := range x.Orders {
		if of[o.AppID] {
			its = append(its, o)
		}
	}
	x.Orders = its
	return x
}
