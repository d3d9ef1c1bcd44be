package people

import (
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile/storage/internal/document"
)

func (s *Store) markErasure(ctx context.Context, sub string) error {
	_, err := document.RetryOnConflict(ctx, func() (document.Erasure, error) {
		e, err := s.nextErasure(ctx, sub)
		if err == nil {
			e, err = document.Put(ctx, s.docs, document.Erasures, e)
		}
		if errors.Is(err, document.ErrExists) {
			err = document.ErrConflict
		}
		return e, err
	})
	return err
}

// nextErasure returns the mark as it is to be written: kept for a day from now on.
func (s *Store) nextErasure(ctx context.Context, sub string) (document.Erasure, error) {
	e, err := document.Get(ctx, s.docs, document.Erasures, sub)
	if errors.Is(err, document.ErrNotFound) {
		err = nil
	}
	e.Sub, e.ExpiresAt = sub, s.clock.Later(time.Now()).Add(document.FenceLife).UTC()
	return e, err
}
