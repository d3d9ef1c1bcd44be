package apps

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Store reads and writes applications; *storage.Store implements it.
type Store interface {
	App(ctx context.Context, id string) (storage.App, error)
	SaveApp(ctx context.Context, a storage.App) (storage.App, error)
}

// End returns the revocation of an application that is removed. A request that is on its way may have read the
// application before: the revocation reaches ahead, which costs nothing, because a client_id is never given again.
func End(id string) driver.Revocation {
	return driver.Revocation{Kind: driver.RevokeApp, ID: id, Before: time.Now().Add(Skew).UTC()}
}

// Skew bounds the difference between the clocks of two machines.
const Skew = time.Minute

// Change changes the newest state of an application. What change refuses is not written.
func Change(ctx context.Context, store Store, id string, change func(*storage.App) error) (storage.App, error) {
	return storage.RetryOnConflict(ctx, func() (storage.App, error) {
		app, err := store.App(ctx, id)
		if err == nil {
			err = change(&app)
		}
		if err != nil {
			return app, err
		}
		return store.SaveApp(ctx, app)
	})
}
