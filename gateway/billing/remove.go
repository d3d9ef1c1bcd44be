package billing

import (
	"context"
	"errors"
	"fmt"

	"github.com/keystile/keystile/storage"
)

// RemoveApp removes an application that is disabled and whose tokens have ended. Its usage is read once no new call
// can be made: its owner does not get that back by removing it. Its orders that are open or have yet to begin are
// canceled. One that somebody else has removed meanwhile is no error.
func (b *Billing) RemoveApp(ctx context.Context, id string) error {
	_, err := storage.RetryOnConflict(ctx, func() (storage.App, error) {
		a, err := b.c.Store.App(ctx, id)
		if err == nil && !a.Disabled {
			err = fmt.Errorf("%w: %s is not disabled", storage.ErrInvalid, id)
		}
		if err != nil {
			return a, err
		}
		return a, b.close(ctx, a)
	})
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrExists) {
		return nil
	}
	return err
}

// close removes an application, records what it has used and cancels its orders.
func (b *Billing) close(ctx context.Context, a storage.App) error {
	used, err := b.Used(ctx, a)
	if err != nil {
		return err
	}
	at := b.now()
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
