package apps

import (
	"context"

	"github.com/keystile/keystile/storage"
)

// OrderStore is what Decide asks of storage.
type OrderStore interface {
	App(ctx context.Context, id string) (storage.App, error)
	Order(ctx context.Context, id string) (storage.Order, error)
	SaveOrder(ctx context.Context, o storage.Order, a storage.App) (storage.Order, storage.App, error)
}

// Decide settles an order by one of its methods, in one step with its application.
// ErrNotFound: there is no such order, or its application has gone.
func Decide(ctx context.Context, store OrderStore, id string, how func(storage.Order, storage.App) (storage.Order, storage.App, error)) (storage.Order, error) {
	return storage.RetryOnConflict(ctx, func() (storage.Order, error) {
		o, err := store.Order(ctx, id)
		if err != nil {
			return o, err
		}
		a, err := store.App(ctx, o.AppID)
		if err == nil {
			o, a, err = how(o, a)
		}
		if err != nil {
			return o, err
		}
		o, _, err = store.SaveOrder(ctx, o, a)
		return o, err
	})
}
