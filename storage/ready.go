package storage

import (
	"context"

	"github.com/keystile/keystile/storage/internal/clock"
	"github.com/keystile/keystile/storage/internal/document"
)

// Ready reports whether the store works: the last write succeeded, including sweeps, and
// the feed of revocations can be read, and this machine's clock is not far from the store's. If nothing was written for
// some seconds it writes one small document itself, at most once in five seconds however often it is called. It returns
// an error that wraps ErrUnavailable, or nil.
func (s *Store) Ready(ctx context.Context) error {
	if err := clock.Ready(s.storeClock); err != nil {
		return err
	}
	if _, err := s.Revocations(ctx, 0, 1); err != nil {
		return err
	}
	return document.Working(ctx, s.documents)
}
