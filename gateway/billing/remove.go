package billing

import (
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// RemoveApp removes an application and ends everything it was granted. It is disabled before
// its tokens are revoked, so that nothing is granted in between. A request that is on its way
// may have read it before: the revocation reaches ahead by a minute, which costs nothing,
// because the client_id is never given again. may decides whether the newest state may be
// removed; nil is yes.
//
// Its usage is read once no new call can be made: its owner does not get that back by removing it.
// Its orders that are open or have yet to begin are canceled.
func (b *Billing) RemoveApp(ctx context.Context, id string, revoke func(context.Context, ...driver.Revocation) error, may func(storage.App) error) (storage.App, error) {
	app, err := storage.RetryOnConflict(ctx, func() (storage.App, error) {
		a, err := b.c.Store.App(ctx, id)
		if err == nil && may != nil {
			err = may(a)
		}
		if err != nil {
			return a, err
		}
		a.Disabled = true
		return b.c.Store.SaveApp(ctx, a)
	})
	if err != nil {
		return app, err
	}
	if err := revoke(ctx, token.EndOfApp(app.ID)); err != nil {
		return app, err
	}
	_, err = storage.RetryOnConflict(ctx, func() (storage.App, error) {
		now, err := b.c.Store.App(ctx, app.ID)
		if err != nil {
			return now, err
		}
		return now, b.close(ctx, now)
	})
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrExists) { // somebody else has removed it meanwhile
		err = nil
	}
	return app, err
}

// close removes an application, records what it has used and cancels its orders.
func (b *Billing) close(ctx context.Context, a storage.App) error {
	used, err := b.Used(ctx, a)
	if err != nil {
		return err
	}
	at := time.Now()
	canceled, err := b.cancelOpen(ctx, &a, a.Owner, at)
	if err != nil {
		return err
	}
	gone, err := b.overtaken(ctx, storage.App{ID: a.ID}, a.Owner, at) // nothing is in effect any more
	if err != nil {
		return err
	}
	return b.c.Store.DeleteApp(ctx, a, used, append(canceled, gone...)...)
}
