package service

import (
	"context"
	"time"

	"github.com/keystile/keystile/internal/record/idempotency"
	"github.com/keystile/keystile/storage/internal/document"
)

var keyedCalls = document.Kind[idempotency.Call]{
	Name:    "keyedcall",
	ID:      func(c idempotency.Call) string { return c.ID },
	Expires: func(c idempotency.Call) time.Time { return c.ExpiresAt },
	Version: func(c *idempotency.Call) *int64 { return &c.Version },
}

// KeyedCall returns a remembered call, ended ones included until they are swept, or ErrNotFound.
func (s *Store) KeyedCall(ctx context.Context, id string) (idempotency.Call, error) {
	return document.Get(ctx, s.docs, keyedCalls, id)
}

// SaveKeyedCalls writes up to a hundred of them in one step, all or none, and returns the version that
// they now have: new ones (ErrExists), or the next step of some that were read (ErrConflict).
// The *driver.PutError names the one that another process has written.
func (s *Store) SaveKeyedCalls(ctx context.Context, calls ...idempotency.Call) (version int64, err error) {
	for _, c := range calls {
		if err := c.Check(); err != nil {
			return 0, err
		}
	}
	docs, err := document.Docs(s.docs, keyedCalls, calls...)
	if err != nil {
		return 0, err
	}
	return document.Write(ctx, s.docs, docs...)
}
