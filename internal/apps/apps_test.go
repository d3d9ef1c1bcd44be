package apps_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/apps"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

func TestAnApplicationIsRemovedOnlyOnceItIsKnownWhatItUsed(t *testing.T) {
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	app, err := store.SaveApp(t.Context(), storage.App{Name: "A", Owner: "u1"})
	if err != nil {
		t.Fatal(err)
	}
	revoked, trouble := false, errors.New("the ledger hangs")
	revoke := func(context.Context, driver.Revocation) error { revoked = true; return nil }
	used := func(context.Context, storage.App) (storage.Quota, error) {
		if !revoked {
			t.Error("it was asked while tokens still open something")
		}
		return storage.Quota{Period: "day", Until: time.Now().Add(time.Hour), Calls: 3}, trouble
	}
	if _, err := apps.Delete(t.Context(), store, revoke, used, app.ID, nil); !errors.Is(err, trouble) {
		t.Errorf("Delete: %v", err)
	}
	if left, err := store.App(t.Context(), app.ID); err != nil || !left.Disabled {
		t.Errorf("left is %+v, %v", left, err)
	}
	trouble = nil
	if _, err := apps.Delete(t.Context(), store, revoke, used, app.ID, nil); err != nil {
		t.Error(err)
	}
	if _, err := store.App(t.Context(), app.ID); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("it is still there: %v", err)
	}
}
