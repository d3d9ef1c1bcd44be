package apps

import (
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Store is what this package asks of storage.
type Store interface {
	App(ctx context.Context, id string) (storage.App, error)
	SaveApp(ctx context.Context, a storage.App) (storage.App, error)
	DeleteApp(ctx context.Context, a storage.App, used storage.Quota) error
}

// Used tells how much of the quota of its present period an application has used;
// gateway.Gateway.Used does.
type Used func(ctx context.Context, app storage.App) (storage.Quota, error)

// Skew is what the clocks of machines may differ by.
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

// Settled returns an application as far as a settlement needs it, one that was removed too,
// or ErrNotFound if there never was one.
func Settled(ctx context.Context, store interface {
	App(ctx context.Context, id string) (storage.App, error)
	ClosedApp(ctx context.Context, id string) (storage.ClosedApp, error)
}, id string) (storage.App, error) {
	app, err := store.App(ctx, id)
	if !errors.Is(err, storage.ErrNotFound) {
		return app, err
	}
	left, err := store.ClosedApp(ctx, id)
	return left.App(), err
}

// Delete removes an application and ends everything it was granted. It is disabled before
// its tokens are revoked, so that nothing is granted in between. A request that is on its
// way may have read it before: the revocation reaches ahead by Skew, which costs nothing,
// because the client_id is never given again. may says whether the newest state may be
// removed; nil is yes. used says what it has used of its quota, which is asked when nothing
// new can call any more: its owner does not get that back by removing it.
func Delete(ctx context.Context, store Store, revoke func(context.Context, driver.Revocation) error, used Used, id string, may func(storage.App) error) (storage.App, error) {
	app, err := Change(ctx, store, id, func(a *storage.App) error {
		if may != nil {
			if err := may(*a); err != nil {
				return err
			}
		}
		a.Disabled = true
		return nil
	})
	if err != nil {
		return app, err
	}
	end := driver.Revocation{Kind: driver.RevokeApp, ID: app.ID, Before: time.Now().Add(Skew).UTC()}
	if err := revoke(ctx, end); err != nil {
		return app, err
	}
	_, err = storage.RetryOnConflict(ctx, func() (storage.App, error) {
		now, err := store.App(ctx, app.ID)
		if err != nil {
			return now, err
		}
		spent, err := used(ctx, now)
		if err != nil {
			return now, err
		}
		return now, store.DeleteApp(ctx, now, spent)
	})
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrExists) { // somebody else has removed it meanwhile
		err = nil
	}
	return app, err
}
