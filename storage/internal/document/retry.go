package document

import (
	"context"
	"errors"
	"fmt"
)

// maxConflicts bounds how often a change is repeated. In each round one of the writers of a
// record succeeds, so it is more than can wait for one record at a time.
const maxConflicts = 1000

// RetryOnConflict calls change, which reads a record and writes it, as long as its error wraps
// [ErrConflict], because another writer has changed the record in between. It returns what change
// returned last: when ctx has ended that may be ErrConflict, and after 1,000 conflicts it is
// ErrConflict together with ErrUnavailable.
func RetryOnConflict[T any](ctx context.Context, change func() (T, error)) (T, error) {
	for round := 1; ; round++ {
		v, err := change()
		switch {
		case !errors.Is(err, ErrConflict) || ctx.Err() != nil:
			return v, err
		case round == maxConflicts:
			return v, fmt.Errorf("%w: other writers came first %d times: %w", ErrUnavailable, maxConflicts, err)
		}
	}
}
