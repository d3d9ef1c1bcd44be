package users

import (
	"context"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
	"github.com/keystile/keystile/storage/driver"
)

func withApp(t *testing.T, store *storage.Store, sub string) storage.Factors {
	t.Helper()
	f, err := store.Factors(t.Context(), sub)
	if err != nil {
		t.Fatal(err)
	}
	f.Authenticator, f.AppSecret = &authn.Authenticator{CreatedAt: time.Now()}, storage.NewSecret("JBSWY3DPEHPK3PXP")
	f.Recovery, f.DueSince = []authn.RecoveryCode{{Hash: "x"}}, time.Now()
	if f, err = store.SaveFactors(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	return f
}

func TestResetRemovesEveryFactorAndRaisesTheEpoch(t *testing.T) {
	store := open(t)
	u := create(t, store, storage.User{Username: "ada"})
	if before, after, err := ResetFactors(t.Context(), store, u.Sub); err != nil || before.Version != 0 ||
		after.Version != 0 {
		t.Errorf("of who never had any: %+v, %+v, %v", before, after, err)
	}
	withApp(t, store, u.Sub)
	before, after, err := ResetFactors(t.Context(), store, u.Sub)
	if err != nil || !before.Any() || after.Any() || !after.AppSecret.IsZero() || len(after.Recovery) > 0 ||
		!after.DueSince.IsZero() || after.Epoch != 1 {
		t.Errorf("it was %+v and is %+v, %v", before, after, err)
	}
	if kept, err := store.Factors(t.Context(), u.Sub); err != nil || kept.Any() || kept.Epoch != 1 ||
		!kept.AppSecret.IsZero() {
		t.Errorf("kept is %+v, %v", kept, err)
	}
}

// A user who is signed out everywhere, for a new password or by an administrator, is asked in every browser again.
func TestSigningOutEverywhereEndsTheTrustOfBrowsers(t *testing.T) {
	store := open(t)
	revoke := func(context.Context, ...driver.Revocation) error { return nil }
	ada, bob := create(t, store, storage.User{Username: "ada"}), create(t, store, storage.User{Username: "bob"})
	withApp(t, store, ada.Sub)
	for _, u := range []storage.User{ada, bob} {
		if _, err := SignOut(t.Context(), store, revoke, u.Sub); err != nil {
			t.Fatal(err)
		}
	}
	if f, err := store.Factors(t.Context(), ada.Sub); err != nil || !f.Any() || f.Epoch != 1 {
		t.Errorf("the factors are %+v, %v", f, err)
	}
	if f, err := store.Factors(t.Context(), bob.Sub); err != nil || f.Version != 0 {
		t.Errorf("of who has none there is %+v, %v", f, err)
	}
}
