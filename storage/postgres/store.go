package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/keystile/keystile/storage/driver"
)

// Store is a driver.Backend in one schema of a PostgreSQL database.
type Store struct {
	pool    *pgxpool.Pool
	texts   [queries]string
	schema  string // quoted
	channel string // of hints
	options Options
	dsn     string
	version string // of the server, when it was opened
	place   string // of the database: see Describe

	partitions partitions
	renewed    atomic.Int64  // when the connections were last replaced, Unix nanoseconds
	pause      time.Duration // before a call whose answer was lost is sent again; doubles

	mu      sync.Mutex
	closed  bool
	calls   sync.WaitGroup
	ended   context.Context // canceled when a closed Store waits no longer for its calls
	endCall context.CancelFunc
}

var _ driver.Backend = (*Store)(nil)

var errClosed = errors.New("postgres: the store is closed")

// idle answers a call that has nothing to do.
func (s *Store) idle(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	return ctx.Err()
}

// begin counts a call in, unless the Store is closed.
func (s *Store) begin() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	s.calls.Add(1)
	return nil
}

// Close ends the Store. Calls in progress have a moment to end; then they are canceled.
func (s *Store) Close() error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	if again {
		return nil
	}
	stop := time.AfterFunc(patience, s.endCall)
	s.calls.Wait()
	stop.Stop()
	s.endCall()
	closed := make(chan struct{})
	go func() { defer close(closed); s.pool.Close() }()
	select {
	case <-closed:
	case <-time.After(patience): // a statement that was given up still has its connection
	}
	return nil
}

// patience limits how long Close waits for calls in progress, and then for their connections.
const patience = 3 * time.Second

// conn is a connection that one call has for itself.
type conn struct {
	*pgxpool.Conn
	s *Store
}

// exec runs a statement that returns no rows.
func (c conn) exec(ctx context.Context, q query, args ...any) error {
	_, err := c.Exec(ctx, c.s.texts[q], args...)
	return err
}

// row reads the one row of a statement; none is ErrNotFound.
func (c conn) row(ctx context.Context, q query, args []any, into ...any) error {
	err := c.QueryRow(ctx, c.s.texts[q], args...).Scan(into...)
	if errors.Is(err, pgx.ErrNoRows) {
		return driver.ErrNotFound
	}
	return err
}

// list runs a statement, and reads all its rows.
func list[T any](ctx context.Context, s *Store, q query, args []any,
	scan func(pgx.Rows) (T, error)) (all []T, err error) {
	err = s.run(ctx, q, func(ctx context.Context, c conn, _ bool) (err error) {
		all, err = collect(ctx, c, q, args, scan)
		return err
	})
	return all, err
}

// collect reads all rows of a statement.
func collect[T any](ctx context.Context, c conn, q query, args []any,
	scan func(pgx.Rows) (T, error)) (all []T, err error) {
	return collectText(ctx, c, c.s.texts[q], args, scan)
}

func collectText[T any](ctx context.Context, c conn, text string, args []any,
	scan func(pgx.Rows) (T, error)) (all []T, err error) {
	rows, err := c.Query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
