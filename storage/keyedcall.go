package storage

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage/keyed"
)

var keyedCalls = kind[keyed.Call]{
	name:    "keyedcall",
	id:      func(c keyed.Call) string { return c.ID },
	expires: func(c keyed.Call) time.Time { return c.ExpiresAt },
	version: func(c *keyed.Call) *int64 { return &c.Version },
}

// KeyedCall returns a remembered call, ended ones included until they are swept, or ErrNotFound.
func (s *Store) KeyedCall(ctx context.Context, id string) (keyed.Call, error) {
	return keyedCalls.get(ctx, s, id)
}

// SaveKeyedCalls writes up to a hundred of them in one step, all or none, and returns the version that
// they now have: new ones (ErrExists), or the next step of some that were read (ErrConflict).
// The *driver.PutError names the one that another process has written.
func (s *Store) SaveKeyedCalls(ctx context.Context, calls ...keyed.Call) (version int64, err error) {
	for _, c := range calls {
		if err := c.Check(); err != nil {
			return 0, err
		}
	}
	docs, err := keyedCalls.docs(s, calls...)
	if err != nil {
		return 0, err
	}
	return s.write(ctx, docs...)
}
