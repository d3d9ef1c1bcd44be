package storage_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

func TestFactorUsedByTwoRequestsIsRefusedOnce(t *testing.T) {
	store, _ := open(t)
	f, err := store.Factors(t.Context(), "u1")
	if err != nil || f.Any() || f.UserID != "u1" {
		t.Fatalf("Factors(of who has none) = %+v, %v; want an empty record", f, err)
	}
	for round := range 2 { // the first record, and a change of one
		var won atomic.Int32
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				mine := f
				mine.Epoch++
				switch _, err := store.SaveFactors(t.Context(), mine); {
				case err == nil:
					won.Add(1)
				case !errors.Is(err, storage.ErrConflict):
					t.Error(err)
				}
			})
		}
		all.Wait()
		if won.Load() != 1 {
			t.Errorf("round %d: %d requests wrote over one record", round, won.Load())
		}
		if f, err = store.Factors(t.Context(), "u1"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSecretOfAnAuthenticatorIsSealed(t *testing.T) {
	store, backend := open(t)
	f := storage.Factors{UserID: "u1", Authenticator: &authn.Authenticator{CreatedAt: time.Now()},
		AppSecret: storage.NewSecret("JBSWY3DPEHPK3PXP")}
	if _, err := store.SaveFactors(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	read, err := store.Factors(t.Context(), "u1")
	if err != nil || read.Authenticator == nil || read.AppSecret.Reveal() != "JBSWY3DPEHPK3PXP" {
		t.Errorf("read %+v, %v; want the secret", read, err)
	}
	d, err := backend.Get(t.Context(), "factors", "u1")
	if err != nil || len(d.Data) == 0 {
		t.Fatal(err)
	}
	if s := string(d.Data); strings.Contains(s, "JBSWY3DP") {
		t.Errorf("stored in plain: %s", s)
	}
}
