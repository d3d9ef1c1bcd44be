package postgres

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

var _ driver.Clock = (*Store)(nil)

// Now returns the time by the clock of the database.
func (s *Store) Now(ctx context.Context) (at time.Time, err error) {
	err = s.run(ctx, readClock, func(ctx context.Context, c conn, _ bool) error {
		return c.row(ctx, readClock, nil, &at)
	})
	return at, err
}

// ClockAhead returns how far the clock of the database is ahead of this machine's; it is negative if the database
// is behind. Times that processes share come from the clock of the database, and expiry is judged by their own: all
// should be set by NTP.
func (s *Store) ClockAhead(ctx context.Context) (ahead time.Duration, err error) {
	began := time.Now()
	there, err := s.Now(ctx)
	if err != nil {
		return 0, err
	}
	return there.Sub(began.Add(time.Since(began) / 2)), nil
}
