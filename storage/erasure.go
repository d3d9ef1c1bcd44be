package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// erasure marks a user whose records are being removed. It is written before the first of them goes: who
// writes a new record of a user looks for it afterwards, and removes what was written. So either the one
// who erases finds the record, or its writer finds the mark.
type erasure struct {
	Sub       string    `json:"sub"`
	ExpiresAt time.Time `json:"expires_at"`
	Version   int64     `json:"-"`
	carried
}

var erasures = kind[erasure]{
	name:    "erased",
	id:      func(e erasure) string { return e.Sub },
	index:   func(erasure) []string { return []string{"all"} },
	expires: func(e erasure) time.Time { return e.ExpiresAt },
	version: func(e *erasure) *int64 { return &e.Version },
}

func (s *Store) markErasure(ctx context.Context, sub string) error {
	_, err := RetryOnConflict(ctx, func() (erasure, error) {
		e, err := s.nextErasure(ctx, sub)
		if err == nil {
			e, err = erasures.put(ctx, s, e)
		}
		if errors.Is(err, ErrExists) {
			err = ErrConflict
		}
		return e, err
	})
	return err
}

// nextErasure returns the mark as it is to be written: kept for a day from now on.
func (s *Store) nextErasure(ctx context.Context, sub string) (erasure, error) {
	e, err := erasures.get(ctx, s, sub)
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	e.Sub, e.ExpiresAt = sub, s.Later(time.Now()).Add(fenceLife).UTC()
	return e, err
}

// unlessErased returns an ErrNotFound, and removes the documents that were just written, if their user
// (a sub) is being erased.
func (s *Store) unlessErased(ctx context.Context, sub string, version int64, written ...driver.Doc) error {
	_, err := erasures.get(ctx, s, sub)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	for i := range written {
		written[i] = driver.Doc{Kind: written[i].Kind, ID: written[i].ID, Version: version, Deleted: true}
	}
	if _, err := s.write(ctx, written...); err != nil && !errors.Is(err, ErrConflict) { // the eraser was faster
		return err
	}
	return fmt.Errorf("%w: the user is being erased", ErrNotFound)
}

// putNew is put, and for a new record of a user who is being erased an ErrNotFound.
func (k kind[T]) putNew(ctx context.Context, s *Store, sub string, v T) (T, error) {
	created := *k.version(&v) == 0
	v, err := k.put(ctx, s, v)
	if err == nil && created {
		err = s.unlessErased(ctx, sub, *k.version(&v), driver.Doc{Kind: k.name, ID: k.id(v)})
	}
	return v, err
}
