package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/keystile/keystile/storage/driver"
)

// SQLSTATEs that are acted upon.
const (
	uniqueViolation       = "23505"
	serializationFailure  = "40001"
	deadlockDetected      = "40P01"
	readOnlyTransaction   = "25006" // the server has become a standby
	invalidText           = "22021"
	lockNotAvailable      = "55P03"
	queryCanceled         = "57014"
	insufficientPrivilege = "42501"
	undefinedTable        = "42P01"
	duplicateTable        = "42P07" // another process has made it meanwhile
	overlapping           = "42P17" // the same, of a partition
	inTheDefault          = "23514" // rows that belong into a new partition lie in the default one
	createdMeanwhile      = "KS409" // raised by put
)

// errUnsettled: a token was seen neither spent nor revoked nor free, again and again.
var errUnsettled = errors.New("postgres: other processes write to this token without end")

// errLost: the connection ended before the answer came, so whether the call happened is unknown.
var errLost = errors.New("postgres: the answer was lost with its connection")

const (
	verdictTries = 10
	attempts     = 3                     // of a call that was certainly not carried out
	lostAttempts = 8                     // of one whose answer was lost
	pause        = 25 * time.Millisecond // before the second attempt; doubles
)

// is reports whether an error is one that the server answered with this SQLSTATE.
func is(err error, sqlstate string) bool {
	var answered *pgconn.PgError
	return errors.As(err, &answered) && answered.Code == sqlstate
}

// outcome says what an error tells about the statement it ended.
type outcome int

const (
	final   outcome = iota // an answer
	undone                 // certainly not carried out: it may be sent again
	unknown                // the connection broke: it may have been carried out
)

func outcomeOf(err error) outcome {
	var answered *pgconn.PgError
	var connecting *pgconn.ConnectError
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), verdict(err):
		return final
	case errors.As(err, &connecting):
		return undone
	case errors.As(err, &answered):
		switch answered.Code {
		case serializationFailure, deadlockDetected, readOnlyTransaction:
			return undone
		}
		switch answered.Code[:2] {
		case "57", "08": // the server is going down, or a pooler has lost it
			return unknown
		}
		return final
	case pgconn.SafeToRetry(err):
		return undone
	case errors.Is(err, errUnsettled), errors.Is(err, errClosed), errors.Is(err, errLost):
		return final
	}
	return unknown
}

func verdict(err error) bool {
	for _, v := range []error{driver.ErrNotFound, driver.ErrExists, driver.ErrConflict, driver.ErrSpent, driver.ErrRevoked,
		driver.ErrInvalid} {
		if errors.Is(err, v) {
			return true
		}
	}
	return false
}

// run carries out one call: on a connection of its own, within the time that a call has.
//
// A caller who goes away is not waited for a connection, but a statement that was sent ends as it
// does: canceling it would close the connection, and callers who hang up would cost a new one each.
func (s *Store) run(ctx context.Context, q query, do func(ctx context.Context, c conn, again bool) error) error {
	return s.call(ctx, q, s.options.Timeout, do)
}

// call is run with a time of its own.
func (s *Store) call(ctx context.Context, q query, within time.Duration,
	do func(ctx context.Context, c conn, again bool) error) error {
	if err := s.begin(); err != nil {
		return err
	}
	defer s.calls.Done()
	if err := ctx.Err(); err != nil {
		return err
	}
	began := time.Now()
	deadline := began.Add(within)
	if earlier, set := ctx.Deadline(); set && earlier.Before(deadline) {
		deadline = earlier
	}
	ctx, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	statement, end := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer end()
	defer context.AfterFunc(s.ended, func() { cancel(); end() })()
	err := s.repeat(ctx, q, func(c conn, again bool) error { return do(statement, c, again) })
	if s.options.Observe != nil {
		s.options.Observe(ctx, statements[q].name, time.Since(began), err)
	}
	switch {
	case err == nil || verdict(err):
		return err
	case is(err, invalidText):
		return fmt.Errorf("%w: a text that is not UTF-8, or has 0x00 in it", driver.ErrInvalid)
	}
	return fmt.Errorf("postgres: %s: %w", statements[q].name, err)
}

// repeat does a call again after a failure. A call whose connection breaks before its answer comes may have
// happened or not, so it is sent again. Count, Revoke, Prune, Sweep and reads come out the same however often
// they happen. Issue and Exchange have happened if their records are there by then: no other caller knows those
// keys. Put, Append and an Exchange for nothing draw a number that stands with their records, and recognise
// their own work by it. Only a Put whose documents another call has changed or removed since is answered with
// an error, and one that removes documents and writes none.
func (s *Store) repeat(ctx context.Context, q query, do func(c conn, again bool) error) error {
	wait, lost := s.pause, false
	for attempt := 1; ; attempt++ {
		err := s.once(ctx, lost, do)
		may := attempts
		switch outcomeOf(err) {
		case final:
			return err
		case unknown:
			lost = true
		}
		if lost {
			may = lostAttempts
		}
		if attempt >= may {
			return err
		}
		select {
		case <-time.After(wait):
			wait *= 2
		case <-ctx.Done():
			return err
		}
	}
}

func (s *Store) once(ctx context.Context, lost bool, do func(c conn, again bool) error) error {
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	err = do(conn{c, s}, lost)
	if is(err, readOnlyTransaction) || outcomeOf(err) == unknown {
		s.renew()
	}
	return err
}

// renew has all connections replaced when one has broken, or leads to a server that takes no writes:
// the others have likely had the same fate, and each would cost a call its answer.
func (s *Store) renew() {
	now := time.Now().UnixNano()
	if last := s.renewed.Load(); now-last >= int64(time.Second) && s.renewed.CompareAndSwap(last, now) {
		s.pool.Reset()
	}
}
