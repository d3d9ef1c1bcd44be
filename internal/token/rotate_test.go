package token

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

func openStore(t *testing.T) *storage.Store {
	t.Helper()
	backend := memory.New()
	t.Cleanup(func() { backend.Close() })
	store, err := storage.Open(context.Background(), backend, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// openKeys is keys on a real store, with a verifier.
func openKeys(t *testing.T) (*storage.Store, *Keys, *Verifier) {
	t.Helper()
	store := openStore(t)
	keys, err := OpenKeys(t.Context(), store, ES256)
	if err != nil {
		t.Fatal(err)
	}
	revoked, err := OpenRevoked(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	return store, keys, NewVerifier(VerifierConfig{Issuer: issuer, Keys: keys, Revoked: revoked})
}

func states(t *testing.T, store *storage.Store) (count map[string]int) {
	t.Helper()
	stored, err := store.SigningKeys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count = map[string]int{}
	for _, k := range stored {
		count[k.State]++
	}
	return count
}

func TestRotationRefusesNoToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, keys, v := openKeys(t)
		before := mint(t, keys, nil)
		published := keys.JWKS().Body()
		active, err := Rotate(t.Context(), store, ES256, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(published, []byte(active.ID)) {
			t.Error("the new active key was not published before it is used")
		}
		if err := keys.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := states(t, store); got[storage.KeyActive] != 1 || got[storage.KeyNext] != 1 || got[storage.KeyRetired] != 1 {
			t.Errorf("states = %v, want one of each", got)
		}
		after := mint(t, keys, nil)
		for _, bearer := range []string{before, after} {
			if _, err := v.Verify(t.Context(), bearer); err != nil {
				t.Errorf("Verify(token around a rotation) = %v, want no error", err)
			}
		}
		time.Sleep(time.Hour)
		if _, err := v.Verify(t.Context(), before); !errors.Is(err, ErrInvalid) {
			t.Errorf("Verify(token of a key that has left) = %v, want ErrInvalid", err)
		}
		if _, err := v.Verify(t.Context(), after); err != nil {
			t.Errorf("Verify(token of the active key) = %v, want no error", err)
		}
		if n, err := store.Sweep(t.Context(), time.Now()); n != 1 || err != nil {
			t.Errorf("Sweep removes %d, %v, want the retired key alone", n, err)
		}
	})
}

func TestRotationsAtOnceHappenOnce(t *testing.T) {
	store, _, _ := openKeys(t)
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i := range errs {
		wg.Go(func() { _, errs[i] = Rotate(t.Context(), store, ES256, time.Hour) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, storage.ErrConflict) {
			t.Errorf("Rotate() = %v, want nil or ErrConflict", err)
		}
	}
	if got := states(t, store); got[storage.KeyActive] != 1 || got[storage.KeyNext] != 1 {
		t.Errorf("states = %v, want one active and one next key", got)
	}
}

func TestKeyIsRemovedOnlyOnceRetired(t *testing.T) {
	store, keys, v := openKeys(t)
	before := mint(t, keys, nil)
	active, err := Rotate(t.Context(), store, ES256, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := Retire(t.Context(), store, active.ID, time.Now()); !errors.Is(err, storage.ErrInvalid) {
		t.Errorf("Retire(active) = %v, want storage.ErrInvalid", err)
	}
	if err := Retire(t.Context(), store, "nobody", time.Now()); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("Retire(unknown) = %v, want ErrNotFound", err)
	}
	stored, _ := store.SigningKeys(t.Context())
	for _, k := range stored {
		if k.State == storage.KeyRetired {
			if err := Retire(t.Context(), store, k.ID, time.Now()); err != nil {
				t.Errorf("Retire(retired) = %v, want no error", err)
			}
		}
	}
	if err := keys.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Verify(t.Context(), before); !errors.Is(err, ErrInvalid) {
		t.Errorf("Verify(token of a key taken out) = %v, want ErrInvalid", err)
	}
}

func TestAlgorithmWithoutKeysCannotRotate(t *testing.T) {
	if _, err := Rotate(t.Context(), openStore(t), EdDSA, time.Hour); err == nil {
		t.Error("Rotate(no keys) = nil, want an error")
	}
}
