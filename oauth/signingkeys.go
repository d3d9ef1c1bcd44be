package oauth

import (
	"cmp"
	"context"
	"time"

	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
)

// SigningAlg returns the algorithm that signs access tokens.
func (t *Tokens) SigningAlg() string { return t.c.SigningAlg }

// SigningKeys returns the signing keys without what they sign with.
func (t *Tokens) SigningKeys(ctx context.Context) ([]storage.SigningKey, error) {
	keys, err := t.c.Store.SigningKeys(ctx)
	for i := range keys {
		keys[i].Private = storage.Secret{}
	}
	return keys, err
}

// RotateKey signs with the next key of an algorithm from now on, "" for that of access tokens, and returns
// that key. Tokens signed before stay valid. It returns storage.ErrInvalid if there is no next key, and
// storage.ErrConflict if another rotation happens at the same moment.
func (t *Tokens) RotateKey(ctx context.Context, alg string) (storage.SigningKey, error) {
	alg = cmp.Or(alg, t.c.SigningAlg)
	active, err := token.Rotate(ctx, t.c.Store, alg, max(t.c.AccessLifetime, time.Hour)+token.Skew)
	active.Private = storage.Secret{}
	if err != nil {
		return active, err
	}
	return active, t.ReloadKeys(ctx)
}

// RetireKey withdraws a retired key: everything it signed is invalid from now on. It returns
// storage.ErrNotFound if there is no such key, and storage.ErrInvalid for one that is not retired.
func (t *Tokens) RetireKey(ctx context.Context, kid string) error {
	if err := token.Retire(ctx, t.c.Store, kid, time.Now()); err != nil {
		return err
	}
	return t.ReloadKeys(ctx)
}
