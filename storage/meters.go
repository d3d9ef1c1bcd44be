package storage

import (
	"context"
	"fmt"
	"slices"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// UsageOf returns the usage of several applications, up to driver.MaxMeters of them, ascending by AppID,
// then time, then product. The AppID of the question says nothing.
func (s *Store) UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error) {
	if len(apps) > driver.MaxMeters {
		return nil, fmt.Errorf("%w: usage of %d applications in one call, at most %d", ErrInvalid, len(apps),
			driver.MaxMeters)
	}
	if m, ok := driver.As[driver.Meters](document.Adapter(s.documents)); ok {
		rows, err := m.UsageOf(ctx, apps, q)
		return rows, document.Unavailable("usage", err)
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
