package postgres

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Sweep removes about n of what ended by at. Tokens that live longer than a day go with the
// partition of the week they were issued in, when all of it has ended.
func (s *Store) Sweep(ctx context.Context, at time.Time, n int) (removed int, err error) {
	err = s.run(ctx, sweep, func(ctx context.Context, c conn, _ bool) error {
		if err := s.partitions.make(ctx, c.Conn, s, at); err != nil {
			return err
		}
		if removed, err = s.partitions.drop(ctx, c.Conn, s, at); err != nil || removed >= n {
			return err
		}
		var more int
		if err := c.row(ctx, sweep, []any{stamp(at), stamp(at.Add(-driver.UsageHours)), n - removed}, &more); err != nil {
			return err
		}
		removed += more
		return nil
	})
	return removed, err
}
