package storage

import (
	"context"
	"fmt"
	"slices"

	"github.com/keystile/keystile/storage/driver"
)

// UsageOf returns the usage of several applications, up to driver.MaxMeters of them, ascending by AppID,
// then time, then product. The AppID of the question says nothing.
func (s *Store) UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error) {
	if len(apps) > driver.MaxMeters {
		return nil, fmt.Errorf("%w: usage of %d applications in one call, at most %d", ErrInvalid, len(apps), driver.MaxMeters)
	}
	if m := driver.AsMeters(s.writes.Backend); m != nil {
		rows, err := m.UsageOf(ctx, apps, q)
		return rows, unavailable("usage", err)
	}
	var all []driver.Count
	for _, app := range slices.Compact(slices.Sorted(slices.Values(apps))) {
		q.AppID = app
		rows, err := s.Usage(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// OrdersOfApps returns a page of the orders of all applications whose client_id lies between first and last,
// both included, by client_id and then the oldest first. It begins at the start or at a next of
// before, and next is "" at the end.
func (s *Store) OrdersOfApps(ctx context.Context, first, last, from string, n int) (page []Order, next string, err error) {
	if !driver.ValidName(first) || !driver.ValidName(last) || first > last {
		return nil, "", nil // nothing can be listed there
	}
	span, err := pageSpan(driver.Span{From: driver.Is("app=" + first).From, To: driver.Is("app=" + last).To}, from)
	if err != nil {
		return nil, "", err
	}
	return orders.list(ctx, s, span, n)
}
