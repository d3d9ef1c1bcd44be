package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Stats is the state of the connections of a Store.
type Stats struct {
	Conns, InUse, Max int
	Waits             int64         // calls that had to wait for a connection, since the start
	Waited            time.Duration // how long they did, in all
}

// Stats returns the state of the connections.
func (s *Store) Stats() Stats {
	p := s.pool.Stat()
	return Stats{int(p.TotalConns()), int(p.AcquiredConns()), int(p.MaxConns()), p.EmptyAcquireCount(), p.EmptyAcquireWaitTime()}
}

// ClockAhead returns how far the clock of the database is ahead of this machine's; it is negative
// where that is behind. What is true of one moment here must not be judged by a clock elsewhere that
// is minutes off, so a program should look before it serves.
func (s *Store) ClockAhead(ctx context.Context) (ahead time.Duration, err error) {
	began := time.Now()
	var there time.Time
	if err := s.pool.QueryRow(ctx, "SELECT clock_timestamp()", pgx.QueryExecModeExec).Scan(&there); err != nil {
		return 0, err
	}
	took := time.Since(began)
	return there.Sub(began.Add(took / 2)), nil
}
