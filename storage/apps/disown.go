package apps

import (
	"context"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// DisownAccounts takes from an owner the orders and the removed applications that are in their name, and what these
// have used of the quota, for an owner whose name may become another one's. GiveApp takes the orders of applications
// that are there.
func (s *Store) DisownAccounts(ctx context.Context, owner string) error {
	err := disownEach(ctx, s, Orders, owner, func(o *Order) { o.Owner = "" })
	if err == nil {
		err = disownEach(ctx, s, closedApps, owner, func(c *closedApp) { c.Owner = "" })
	}
	if err != nil {
		return err
	}
	_, err = document.RetryOnConflict(ctx, func() (struct{}, error) {
		used, err := s.spentBy(ctx, owner)
		if err == nil && used.Version != 0 {
			_, err = document.Write(ctx, s.docs, driver.Doc{Kind: Spents.Name, ID: owner, Version: used.Version, Deleted: true})
		}
		return struct{}{}, err
	})
	return err
}

// disownEach writes the records of an owner without their owner, a page at a time from the first one on: what is
// written is on no page any more.
func disownEach[T any](ctx context.Context, s *Store, k document.Kind[T], owner string, disown func(*T)) error {
	_, err := document.RetryOnConflict(ctx, func() (struct{}, error) {
		for {
			page, _, err := document.List(ctx, s.docs, k, driver.Is("owner="+owner), disownStep)
			if err != nil || len(page) == 0 {
				return struct{}{}, err
			}
			for i := range page {
				disown(&page[i])
			}
			docs, err := document.Docs(s.docs, k, page...)
			if err == nil {
				_, err = document.Write(ctx, s.docs, docs...)
			}
			if err != nil {
				return struct{}{}, err
			}
		}
	})
	return err
}

const disownStep = 50 // records that are written in one step
