package storage

import (
	"context"
	"errors"
)

// Again repeats a change, which reads a record and writes it, until nobody else has changed
// the same record in between.
func Again[T any](ctx context.Context, change func() (T, error)) (T, error) {
	for {
		v, err := change()
		if !errors.Is(err, ErrConflict) || ctx.Err() != nil {
			return v, err
		}
	}
}
