package main

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/keystile/keystile/storage/driver"
)

// job is one method's work. It may run twice, the second time in a transaction that knows nothing
// of the first, so it changes nothing outside but its own result.
type job struct {
	ctx    context.Context
	do     func(*step) error
	answer chan error // buffered, so that the writer never waits
}

// step is the transaction that a job works in. It is the writer's own: a caller that leaves does
// not end what others wait for.
type step struct{ tx *sql.Tx }

func (x *step) exec(query string, args ...any) (sql.Result, error) {
	return x.tx.ExecContext(context.Background(), query, args...)
}

func (x *step) row(query string, args ...any) *sql.Row {
	return x.tx.QueryRowContext(context.Background(), query, args...)
}

var errClosed = errors.New("sqlite: the store is closed")

// write hands work to the writer and waits for its answer. The writer answers all that it accepts.
func (s *Store) write(ctx context.Context, do func(*step) error) error {
	j := &job{ctx: ctx, do: do, answer: make(chan error, 1)}
	select {
	case <-s.quit:
		return errClosed
	default:
	}
	select {
	case s.queue <- j:
		return <-j.answer
	case <-s.quit:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// serve is the writer. Open starts it, Close ends it.
func (s *Store) serve() {
	defer close(s.ended)
	for {
		select {
		case j := <-s.queue:
			s.settle(s.gather(j))
		case <-s.quit:
			return
		}
	}
}

// gather adds the jobs that wait already: the queue is unbuffered, so they came while the
// last transaction was on its way to the disk.
func (s *Store) gather(first *job) []*job {
	batch := []*job{first}
	for len(batch) < 256 {
		select {
		case j := <-s.queue:
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}

// settle commits a batch and answers it. If something other than a refusal goes wrong, nobody
// knows whose fault it was: each job is then run alone, and has an answer of its own.
func (s *Store) settle(batch []*job) {
	verdicts, err := s.commit(batch)
	if err != nil && len(batch) > 1 {
		for _, j := range batch {
			s.settle([]*job{j})
		}
		return
	}
	for i, j := range batch {
		if err == nil {
			j.answer <- verdicts[i]
		} else {
			j.answer <- err
		}
	}
}

// commit runs jobs in one transaction, each in a savepoint: a refusal takes back its own changes.
func (s *Store) commit(batch []*job) (verdicts []error, err error) {
	tx, err := s.writes.BeginTx(context.Background(), nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() // does nothing once it is committed
	x := &step{tx}
	for _, j := range batch {
		verdict := j.ctx.Err()
		if verdict == nil {
			if verdict, err = x.attempt(j.do); err != nil {
				return nil, err
			}
		}
		verdicts = append(verdicts, verdict)
	}
	return verdicts, tx.Commit()
}

// attempt returns what refused, or what went wrong.
func (x *step) attempt(do func(*step) error) (verdict, trouble error) {
	if _, err := x.exec("SAVEPOINT job"); err != nil {
		return nil, err
	}
	switch err := do(x); {
	case refuses(err):
		verdict = err
		if _, err := x.exec("ROLLBACK TO job"); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	}
	_, trouble = x.exec("RELEASE job")
	return verdict, trouble
}

// refuses reports whether an error is a verdict of the contract, not a failure of the database.
func refuses(err error) bool {
	return slices.ContainsFunc([]error{
		driver.ErrNotFound, driver.ErrExists, driver.ErrConflict, driver.ErrSpent, driver.ErrRevoked, driver.ErrInvalid,
	}, func(verdict error) bool { return errors.Is(err, verdict) })
}
