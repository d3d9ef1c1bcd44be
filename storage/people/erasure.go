package people

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/internal/fence"
)

func (s *Store) markErasure(ctx context.Context, sub string) error {
	_, err := document.Update(ctx, s.docs, document.Erasures, sub, func(e *document.Erasure) bool {
		s.keep(e, sub)
		return true
	})
	return err
}

// nextErasure returns the mark as it is to be written.
func (s *Store) nextErasure(ctx context.Context, sub string) (document.Erasure, error) {
	e, err := document.Find(ctx, s.docs, document.Erasures, sub)
	s.keep(&e, sub)
	return e, err
}

// keep has a mark kept for a day from now on.
func (s *Store) keep(e *document.Erasure, sub string) {
	e.Sub, e.ExpiresAt = sub, s.clock.Later(time.Now()).Add(fence.Life).UTC()
}
