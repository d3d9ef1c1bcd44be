package serviceacts

import (
	"context"
	"slices"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
)

// RotateKey signs with the next key of an algorithm from now on, and returns that key. Tokens that were signed before
// stay valid. It is ErrInvalid if there is no next key, and ErrConflict if another process rotates at this moment.
func (a *Acts) RotateKey(ctx context.Context, by admin.Actor, alg string) (storage.SigningKey, error) {
	if err := may(by); err != nil {
		return storage.SigningKey{}, err
	}
	all, err := a.c.Keys.SigningKeys(ctx)
	if err != nil {
		return storage.SigningKey{}, err
	}
	before := "none"
	for _, k := range all {
		if k.Alg == alg && k.State == storage.KeyActive {
			before = k.ID
		}
	}
	if err := a.announce(ctx, by, "key rotate begins", alg); err != nil {
		return storage.SigningKey{}, err
	}
	k, err := a.c.Keys.RotateKey(ctx, alg)
	if err != nil {
		return k, err
	}
	return k, a.note(ctx, by, "key rotate", alg, "active "+before+" -> "+k.ID)
}

// RetireKey withdraws a retired key: everything it signed is invalid from now on. It is ErrNotFound if there is no such
// key, and ErrInvalid for one that is not retired.
func (a *Acts) RetireKey(ctx context.Context, by admin.Actor, kid string) error {
	if err := may(by); err != nil {
		return err
	}
	all, err := a.c.Keys.SigningKeys(ctx)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(k storage.SigningKey) bool { return k.ID == kid }) {
		return storage.ErrNotFound
	}
	if err := a.announce(ctx, by, "key retire begins", kid); err != nil {
		return err
	}
	if err := a.c.Keys.RetireKey(ctx, kid); err != nil {
		return err
	}
	return a.note(ctx, by, "key retire", kid, "state retired -> withdrawn")
}
