package document

import (
	"context"
	"errors"
	"fmt"
)

// maxConflicts bounds how often a change is repeated. In each round one of the writers of a
// record succeeds, so it is more than can wait for one record at a time.
const maxConflicts = 1000

// Update reads a record, the zero one where there is none, and writes it as change has made it, anew as long as another
// writer is faster. Nothing is written where change returns false.
func Update[T any](ctx context.Context, s *Store, k Kind[T], id string, change func(*T) bool) (T, error) {
	return RetryOnConflict(ctx, func() (T, error) {
		v, err := Find(ctx, s, k, id)
		if err != nil || !change(&v) {
			return v, err
		}
		return Replace(ctx, s, k, v)
	})
}

// Replace is Put of a record as Find has read it. That another writer was faster is ErrConflict, also where there was
// none.
func Replace[T any](ctx context.Context, s *Store, k Kind[T], v T) (T, error) {
	v, err := Put(ctx, s, k, v)
	if errors.Is(err, ErrExists) {
		err = fmt.Errorf("%w: %w", ErrConflict, err)
	}
	return v, err
}

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
