package ledger

import (
	"context"
	"errors"
	"fmt"
)

// Close ends the Ledger: it accepts no more charges and sends what is charged. If ctx ends
// or the store fails first, the error reports how many calls are unsent, and where they
// are: in the journal for the next start, or nowhere. A later Close does nothing.
func (l *Ledger) Close(ctx context.Context) error {
	l.mu.Lock()
	closed := l.closed
	l.closed = true
	l.seal()
	l.mu.Unlock()
	if closed {
		return nil
	}
	l.stop()
	within(ctx, func() error { l.running.Wait(); return nil })
	disk := l.tidy()
	left := l.unsentError(within(ctx, func() error { return l.drain(ctx) }), disk)
	if l.journal == nil {
		return left
	}
	return errors.Join(left, l.journal.lock.Close())
}

// within does not wait longer than ctx, for a store that ignores its own.
func within(ctx context.Context, do func() error) error {
	done := make(chan error, 1)
	go func() { done <- do() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// unsentError returns an error that reports the calls that were not sent because of err.
func (l *Ledger) unsentError(err, disk error) error {
	if err == nil {
		return nil
	}
	var calls int64
	l.mu.Lock()
	for _, b := range l.queue {
		calls += b.calls()
	}
	l.mu.Unlock()
	switch {
	case calls == 0:
		return nil
	case l.journal == nil:
		return fmt.Errorf("ledger: %d calls were not counted and are lost; a journal would keep them: %w", calls, err)
	case disk != nil:
		return fmt.Errorf("ledger: %d calls were not counted, and the journal %s cannot keep all of them: %w", calls,
			l.journal.folder, errors.Join(err, disk))
	}
	return fmt.Errorf("ledger: %d calls wait in %s and are counted at the next start: %w", calls, l.journal.folder, err)
}
