package document

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Erasure marks a user whose records are being removed. It is written before the first of them goes: who
// writes a new record of a user looks for it afterwards, and removes what was written. So either the one
// who erases finds the record, or its writer finds the mark.
type Erasure struct {
	Sub       string    `json:"sub"`
	ExpiresAt time.Time `json:"expires_at"`
	Version   int64     `json:"-"`
	carried
}

var Erasures = Kind[Erasure]{
	Name:    "erased",
	ID:      func(e Erasure) string { return e.Sub },
	Index:   func(Erasure) []string { return []string{"all"} },
	Expires: func(e Erasure) time.Time { return e.ExpiresAt },
	Version: func(e *Erasure) *int64 { return &e.Version },
}

// UnlessErased returns an ErrNotFound, and removes the documents that were just written, if their user
// (a sub) is being erased.
func UnlessErased(ctx context.Context, s *Store, sub string, version int64, written ...driver.Doc) error {
	_, err := Get(ctx, s, Erasures, sub)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	for i := range written {
		written[i] = driver.Doc{Kind: written[i].Kind, ID: written[i].ID, Version: version, Deleted: true}
	}
	if _, err := Write(ctx, s, written...); err != nil && !errors.Is(err, ErrConflict) { // the eraser was faster
		return err
	}
	return fmt.Errorf("%w: the user is being erased", ErrNotFound)
}

// PutNew is put, and for a new record of a user who is being erased an ErrNotFound.
func PutNew[T any](ctx context.Context, s *Store, k Kind[T], sub string, v T) (T, error) {
	created := *k.Version(&v) == 0
	v, err := Put(ctx, s, k, v)
	if err == nil && created {
		err = UnlessErased(ctx, s, sub, *k.Version(&v), driver.Doc{Kind: k.Name, ID: k.ID(v)})
	}
	return v, err
}
