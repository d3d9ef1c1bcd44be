package token

import (
	"context"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage"
)

// RotateStore keeps signing keys and changes several in one step.
type RotateStore interface {
	SigningKeys(ctx context.Context) ([]storage.SigningKey, error)
	SaveKeys(ctx context.Context, keys ...storage.SigningKey) error
}

// Rotate moves the keys of an algorithm one step on, at once: next becomes active, active
// becomes retired and stays published for as long as what it signed may live, and a new
// next key is drawn. Clients that fetched the key set before already know the new active
// key. Of two rotations at the same moment one fails with storage.ErrConflict.
func Rotate(ctx context.Context, store RotateStore, alg string, outlives time.Duration) (storage.SigningKey, error) {
	stored, err := store.SigningKeys(ctx)
	if err != nil {
		return storage.SigningKey{}, fmt.Errorf("token: read the signing keys: %w", err)
	}
	active, next := pick(stored, alg)
	if active == nil || next == nil {
		return storage.SigningKey{}, fmt.Errorf("%w: %.20q has no active and next key to rotate", storage.ErrInvalid, alg)
	}
	fresh, err := NewKey(alg, storage.KeyNext)
	if err != nil {
		return storage.SigningKey{}, err
	}
	now := time.Now().UTC()
	active.State, active.RetiredAt, active.ExpiresAt = storage.KeyRetired, now, now.Add(outlives)
	next.State = storage.KeyActive
	if err := store.SaveKeys(ctx, *active, *next, fresh); err != nil {
		return storage.SigningKey{}, fmt.Errorf("token: store the rotated %s keys: %w", alg, err)
	}
	return *next, nil
}

func pick(keys []storage.SigningKey, alg string) (active, next *storage.SigningKey) {
	for i, k := range keys {
		switch {
		case k.Alg != alg:
		case k.State == storage.KeyActive:
			active = &keys[i]
		case k.State == storage.KeyNext:
			next = &keys[i]
		}
	}
	return active, next
}

// Retire ends the overlap of a retired key now: what it signed is refused from here on.
// An active or next key is storage.ErrInvalid: rotate first. An unknown kid is storage.ErrNotFound.
func Retire(ctx context.Context, store RotateStore, kid string, now time.Time) error {
	stored, err := store.SigningKeys(ctx)
	if err != nil {
		return fmt.Errorf("token: read the signing keys: %w", err)
	}
	for _, k := range stored {
		if k.ID != kid {
			continue
		}
		if k.State != storage.KeyRetired {
			return fmt.Errorf("%w: the key is not retired: it is %s; rotate the %s keys first", storage.ErrInvalid, k.State,
				k.Alg)
		}
		k.ExpiresAt = now.UTC()
		return store.SaveKeys(ctx, k)
	}
	return storage.ErrNotFound
}
