package apps

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// GiveApp writes an application with another owner, "" for none. Its orders go with it, so
// that the former owner neither sees nor cancels them. Where there are more of them than
// one write holds, the first ones go before it: if that breaks off, do it again. An owner who is erased,
// or a group that there is not, is an ErrInvalid.
func (s *Store) GiveApp(ctx context.Context, a App, owner string) (App, error) {
	for {
		given, err := s.giveApp(ctx, a, owner)
		if !ownerChanged(err) {
			return given, err
		}
	}
}

func (s *Store) giveApp(ctx context.Context, a App, owner string) (App, error) {
	stands, err := s.fenceOfApps(ctx, owner)
	if err != nil {
		return a, err
	}
	a.Owner = owner
	a, err = a.Complete(time.Now().UTC())
	if err != nil {
		return a, err
	}
	left, err := s.ordersOf(ctx, a.ID, func(o Order) bool { return o.Owner != owner })
	if err != nil {
		return a, err
	}
	for i := range left {
		left[i].Owner = owner
	}
	for {
		n := min(len(left), document.MaxDocs-4)
		var change document.Tally
		countOrders(&change, left[:n])
		docs, err := document.Docs(s.docs, Orders, left[:n]...)
		if err != nil {
			return a, err
		}
		if left = left[n:]; len(left) == 0 {
			return WriteApp(ctx, s, a, change, append(docs, stands...)...)
		}
		if _, err := document.WriteCounted(ctx, s.docs, change, docs...); err != nil {
			return a, err
		}
	}
}

// ordersOf returns the orders of an application for which chosen is true.
func (s *Store) ordersOf(ctx context.Context, id string, chosen func(Order) bool) (all []Order, err error) {
	for after := ""; ; {
		page, next, err := s.Orders(ctx, OrderQuery{AppID: id}, after, driver.Page)
		if err != nil {
			return nil, err
		}
		for _, o := range page {
			if chosen(o) {
				all = append(all, o)
			}
		}
		if after = next; next == "" {
			return all, nil
		}
	}
}
