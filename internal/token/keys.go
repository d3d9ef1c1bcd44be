package token

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// KeyStore keeps the signing keys. *storage.Store is one.
type KeyStore interface {
	SigningKeys(ctx context.Context) ([]storage.SigningKey, error)
	FirstKeys(ctx context.Context, alg string, keys ...storage.SigningKey) error
}

// Keys are the signing keys of the service, as the store had them at the last Reload.
type Keys struct {
	store   KeyStore
	algs    []string
	reading sync.Mutex // of two Reloads the later one reads later; nobody else waits for it
	set     atomic.Pointer[keyset]
}

// OpenKeys reads the signing keys. The first algorithm is the default; without any it is
// ES256. An algorithm that has no keys gets an active and a next one, and of many
// processes that do this on one store at once, one makes them and all use them.
func OpenKeys(ctx context.Context, store KeyStore, algs ...string) (*Keys, error) {
	if len(algs) == 0 {
		algs = []string{ES256}
	}
	stored, err := store.SigningKeys(ctx)
	if err != nil {
		return nil, fmt.Errorf("token: read the signing keys: %w", err)
	}
	for _, alg := range algs {
		if slices.ContainsFunc(stored, func(r storage.SigningKey) bool { return r.Alg == alg }) {
			continue
		}
		if err := makeFirst(ctx, store, alg); err != nil {
			return nil, err
		}
	}
	k := &Keys{store: store, algs: slices.Clone(algs)}
	if err := k.Reload(ctx); err != nil {
		return nil, err
	}
	return k, nil
}

func makeFirst(ctx context.Context, store KeyStore, alg string) error {
	active, err := NewKey(alg, storage.KeyActive)
	if err != nil {
		return err
	}
	next, err := NewKey(alg, storage.KeyNext)
	if err != nil {
		return err
	}
	if err := store.FirstKeys(ctx, alg, active, next); err != nil {
		return fmt.Errorf("token: store the first %s keys: %w", alg, err)
	}
	return nil
}

// Ensure gives an algorithm its first keys if it has none yet: an application may ask for
// one that nothing else here needs. Where there are keys it costs nothing.
func (k *Keys) Ensure(ctx context.Context, alg string) error {
	if k.set.Load().active[alg] != nil {
		return nil
	}
	if err := makeFirst(ctx, k.store, alg); err != nil {
		return err
	}
	return k.Reload(ctx)
}

// Reload reads the store again. If that fails, or an algorithm would be left without an
// active key, the keys stay what they were.
func (k *Keys) Reload(ctx context.Context) error {
	k.reading.Lock()
	defer k.reading.Unlock()
	stored, err := k.store.SigningKeys(ctx)
	if err != nil {
		return fmt.Errorf("token: read the signing keys: %w", err)
	}
	keys := make([]*key, len(stored))
	for i, r := range stored {
		if keys[i], err = parse(r); err != nil {
			return err
		}
	}
	set := newKeyset(keys, k.algs, time.Now())
	for _, alg := range k.algs {
		if set.active[alg] == nil {
			return fmt.Errorf("token: no active %s key in the store: rotate in a new one", alg)
		}
	}
	k.set.Store(set)
	return nil
}

// Algs returns the algorithms that have an active key, the default first.
func (k *Keys) Algs() []string { return slices.Clone(k.set.Load().algs) }

// JWKS returns the public keys as RFC 7517 writes them.
func (k *Keys) JWKS() *reply.Document { return k.at(time.Now()).jwks }

// at returns the keys that are good at a time: a retired key leaves at its moment,
// whether or not anybody calls Reload.
func (k *Keys) at(now time.Time) *keyset {
	set := k.set.Load()
	if set.until.IsZero() || now.Before(set.until) {
		return set
	}
	rest := newKeyset(set.keys, k.algs, now)
	k.set.CompareAndSwap(set, rest) // a Reload that came between knows better
	return rest
}
