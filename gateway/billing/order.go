package billing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
)

// errStatus is a mistake in a host's Decider.
var errStatus = errors.New("billing: Decider.Decide returned none of approved, rejected, pending, contact")

// Order orders another tier for an application, in one step with its effects. Ordering again
// what is pending, or approved for later, returns the existing order; made reports whether it
// is a new one. It returns storage.ErrInvalid if another order is open, or the application has the
// tier already; the error says what to do.
//
// Of this and of what follows: by is kept in the order, and is a sub, a client_id or a word such as
// operator; may refuses the newest state of what is about to change, and is called again after a
// conflict; nil refuses nothing.
func (b *Billing) Order(ctx context.Context, clientID, tier, by string,
	may func(storage.App) error) (order storage.Order, made bool, err error) {
	if err := checkTier(tier); err != nil {
		return storage.Order{}, false, err
	}
	now := b.now().UTC()
	id := handle.NewOrderID(now)
	order, err = storage.RetryOnConflict(ctx, func() (storage.Order, error) {
		app, err := b.c.Store.App(ctx, clientID)
		if err == nil && may != nil {
			err = may(app)
		}
		if err != nil {
			return storage.Order{}, err
		}
		if same, err := b.existing(ctx, app, tier, now); err != nil || same.ID != "" {
			return same, err
		}
		return b.place(ctx, storage.Order{
			ID: id, AppID: app.ID, Owner: app.Owner, By: by, From: app.TierAt(now), Tier: tier,
			AmountFen: b.plans.of(tier).PriceFen, CreatedAt: now,
		}, app, now)
	})
	if made = order.ID == id; made && err == nil {
		b.c.Changed(order.AppID)
	}
	return order, made, err
}

// existing returns an existing order of the same tier, the zero one if there is none, or why no
// order can be made.
func (b *Billing) existing(ctx context.Context, app storage.App, tier string, now time.Time) (storage.Order, error) {
	switch open, err := b.open(ctx, app); {
	case err != nil:
		return storage.Order{}, err
	case open.Tier == tier:
		return open, nil
	case open.ID != "":
		return storage.Order{}, fmt.Errorf("%w: order %s is open: wait for it, or take it back with DELETE "+
			"/api/v1/billing/orders/%[2]s", storage.ErrInvalid, open.ID)
	}
	if !app.TierUntil(now).IsZero() {
		var later storage.Order
		err := b.approved(ctx, app.ID, func(o storage.Order) {
			if later.ID == "" && o.Tier == tier && scheduled(o, now) {
				later = o
			}
		})
		if err != nil || later.ID != "" {
			return later, err
		}
	}
	if tier == app.TierAt(now) {
		return storage.Order{}, fmt.Errorf("%w: the application is %s already", storage.ErrInvalid, tier)
	}
	return storage.Order{}, nil
}

// open returns the open order of an application, the zero one if there is none.
func (b *Billing) open(ctx context.Context, app storage.App) (storage.Order, error) {
	if app.Order == "" {
		return storage.Order{}, nil
	}
	o, err := b.c.Store.Order(ctx, app.Order)
	if errors.Is(err, storage.ErrNotFound) || err == nil && !o.Open() {
		return storage.Order{}, nil
	}
	return o, err
}

// place calls the Decider for an order and stores it.
func (b *Billing) place(ctx context.Context, order storage.Order, app storage.App,
	now time.Time) (storage.Order, error) {
	status, reason, err := b.c.Decider.Decide(ctx, order, app)
	if err != nil {
		return order, err
	}
	switch status {
	case storage.OrderApproved:
		order, app, err = approve(order, app, "billing", now, time.Time{})
	case storage.OrderRejected:
		order, app, err = reject(order, app, "billing", reason, now)
	case storage.OrderPending, storage.OrderContact:
		order.Status, app.Order = status, order.ID
	default:
		return order, errStatus
	}
	if err != nil {
		return order, err
	}
	return b.save(ctx, order, app)
}

// Approve lets an open order take effect; until, if it is not zero, is when it ends
// instead of a year later. It returns storage.ErrInvalid if the order is not open.
func (b *Billing) Approve(ctx context.Context, orderID, by string, until time.Time,
	may func(storage.Order, storage.App) error) (storage.Order, error) {
	return b.decide(ctx, orderID, may, func(o storage.Order, a storage.App) (storage.Order, storage.App, error) {
		return approve(o, a, by, b.now(), until)
	})
}

// Reject refuses an open order; its owner sees the reason. It returns storage.ErrInvalid
// if the order is not open.
func (b *Billing) Reject(ctx context.Context, orderID, by, reason string,
	may func(storage.Order, storage.App) error) (storage.Order, error) {
	return b.decide(ctx, orderID, may, func(o storage.Order, a storage.App) (storage.Order, storage.App, error) {
		return reject(o, a, by, reason, b.now())
	})
}

// Cancel cancels an order that is open, or approved for later. It is kept as canceled. It
// returns storage.ErrInvalid if the order has taken effect or was refused.
func (b *Billing) Cancel(ctx context.Context, orderID, by string,
	may func(storage.Order, storage.App) error) (storage.Order, error) {
	return b.decide(ctx, orderID, may, func(o storage.Order, a storage.App) (storage.Order, storage.App, error) {
		return cancel(o, a, by, b.now())
	})
}

// decide settles an order, in one step with its application. It returns storage.ErrNotFound
// if there is no such order or, together with the order, if its application was removed.
func (b *Billing) decide(ctx context.Context, id string, may func(storage.Order, storage.App) error,
	how func(storage.Order, storage.App) (storage.Order, storage.App, error)) (storage.Order, error) {
	order, err := storage.RetryOnConflict(ctx, func() (storage.Order, error) {
		o, err := b.c.Store.Order(ctx, id)
		if err != nil {
			return o, err
		}
		a, err := b.c.Store.App(ctx, o.AppID)
		if err == nil && may != nil {
			err = may(o, a)
		}
		if err == nil {
			o, a, err = how(o, a)
		}
		if err != nil {
			return o, err
		}
		return b.save(ctx, o, a)
	})
	if err == nil {
		b.c.Changed(order.AppID)
	}
	return order, err
}

// SetTier gives an application a tier at once and for free, until a time if it is not zero, in
// one step with an approved order that records it. It cancels an open order.
func (b *Billing) SetTier(ctx context.Context, clientID, tier, by string, until time.Time,
	may func(storage.App) error) (storage.App, error) {
	app, err := storage.RetryOnConflict(ctx, func() (storage.App, error) {
		app, err := b.c.Store.App(ctx, clientID)
		if err == nil && may != nil {
			err = may(app)
		}
		if err != nil {
			return app, err
		}
		return b.give(ctx, app, tier, by, b.now(), until)
	})
	if err == nil {
		b.c.Changed(clientID)
	}
	return app, err
}

func (b *Billing) give(ctx context.Context, a storage.App, tier, by string, at, until time.Time) (storage.App, error) {
	if rank(tier) < 0 {
		return a, fmt.Errorf("%w: tier: %q is none of free, white_label, enterprise", storage.ErrInvalid, tier)
	}
	if !until.IsZero() && !until.After(at) {
		return a, fmt.Errorf("%w: the end is not in the future", storage.ErrInvalid)
	}
	o := storage.Order{
		ID: handle.NewOrderID(at), AppID: a.ID, Owner: a.Owner, By: by, From: a.TierAt(at), Tier: tier, CreatedAt: at.UTC(),
		EffectiveAt: at.UTC(), ExpiresAt: until, PriorEnd: a.TierUntil(at),
	}
	a.SetTier(tier, at, until)
	o = decided(o, &a, storage.OrderApproved, by, "", at)
	waiting, err := b.cancelOpen(ctx, &a, by, at)
	if err != nil {
		return a, err
	}
	_, a, err = b.saveWith(ctx, o, a, waiting)
	return a, err
}

// cancelOpen returns the open order of an application, canceled, if there is one.
func (b *Billing) cancelOpen(ctx context.Context, a *storage.App, by string, at time.Time) ([]storage.Order, error) {
	o, err := b.open(ctx, *a)
	if err != nil {
		return nil, err
	}
	a.Order = ""
	if o.ID == "" {
		return nil, nil
	}
	return []storage.Order{decided(o, a, storage.OrderCanceled, by, "", at)}, nil
}

func (b *Billing) save(ctx context.Context, o storage.Order, a storage.App) (storage.Order, error) {
	o, _, err := b.saveWith(ctx, o, a, nil)
	return o, err
}

// saveWith writes an order and its application in one step, together with the overtaken
// orders. It returns storage.ErrConflict if one of them has changed since it was read.
func (b *Billing) saveWith(ctx context.Context, o storage.Order, a storage.App,
	more []storage.Order) (storage.Order, storage.App, error) {
	if o.Status == storage.OrderApproved {
		gone, err := b.overtaken(ctx, a, o.DecidedBy, o.DecidedAt)
		if err != nil {
			return o, a, err
		}
		// A caller that has read this order before it was approved gets a conflict below.
		more = append(more, slices.DeleteFunc(gone, func(g storage.Order) bool { return g.ID == o.ID })...)
	}
	return b.c.Store.SaveOrder(ctx, o, a, more...)
}

// overtaken returns the orders of an application that were approved for later and no
// longer take effect, canceled.
func (b *Billing) overtaken(ctx context.Context, a storage.App, by string,
	at time.Time) (all []storage.Order, err error) {
	err = b.approved(ctx, a.ID, func(o storage.Order) {
		if scheduled(o, at) && !inEffect(o, a) {
			all = append(all, decided(o, &a, storage.OrderCanceled, by, "another change has overtaken it", at))
		}
	})
	return all, err
}
