package postgres

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// maintenance limits the work on partitions of one sweep: a week of many tokens is read whole before
// it is dropped.
const maintenance = 10 * time.Minute

// Sweep removes about n of what ended by at. Tokens that live longer than a day go with the
// partition of the week they were issued in, when all of it has ended.
func (s *Store) Sweep(ctx context.Context, at time.Time, n int) (removed int, err error) {
	dropped := 0
	err = s.call(ctx, keepPartitions, maintenance, func(ctx context.Context, c conn, _ bool) error {
		if err := s.partitions.make(ctx, c.Conn, at); err != nil {
			return err
		}
		n, err := s.partitions.drop(ctx, c.Conn, at)
		dropped += n
		return err
	})
	if err != nil || dropped >= n {
		return dropped, err
	}
	err = s.run(ctx, sweep, func(ctx context.Context, c conn, _ bool) error {
		var more int
		if err := c.row(ctx, sweep, []any{stamp(at), stamp(at.Add(-driver.UsageHours)), n - dropped}, &more); err != nil {
			return err
		}
		removed = dropped + more
		return nil
	})
	return removed, err
}
