package appacts

import (
	"context"
	"fmt"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// nameOf returns what the records of orders call an actor. Their owners may read them, and learn no name of a machine.
func nameOf(by admin.Actor) string {
	if by.Operator != "" {
		return "operator"
	}
	return by.Name()
}

// Order orders another tier for an application. Asking again for what is already asked for returns the order there is.
func (a *Acts) Order(ctx context.Context, by admin.Actor, id, tier string) (storage.Order, error) {
	order, made, err := a.c.Billing.Order(ctx, id, tier, nameOf(by),
		func(app storage.App) error { return mayChange(by, app) })
	if err == nil && made {
		err = a.noteOrder(ctx, by, "order create", storage.Order{}, order)
	}
	return order, err
}

// Approve lets an order that waits take effect, until a time if it is not zero.
func (a *Acts) Approve(ctx context.Context, by admin.Actor, orderID string, until time.Time) (storage.Order, error) {
	return a.decide(ctx, by, "order approve", administrator(by),
		func(may func(storage.Order, storage.App) error) (storage.Order, error) {
			return a.c.Billing.Approve(ctx, orderID, nameOf(by), until, may)
		})
}

// Reject refuses an order that waits. Its owner reads the reason.
func (a *Acts) Reject(ctx context.Context, by admin.Actor, orderID, reason string) (storage.Order, error) {
	return a.decide(ctx, by, "order reject", administrator(by),
		func(may func(storage.Order, storage.App) error) (storage.Order, error) {
			return a.c.Billing.Reject(ctx, orderID, nameOf(by), reason, may)
		})
}

// Cancel takes back an order that waits, or has yet to begin. It is kept as canceled.
func (a *Acts) Cancel(ctx context.Context, by admin.Actor, orderID string) (storage.Order, error) {
	return a.decide(ctx, by, "order cancel", fresh(by), func(may func(storage.Order, storage.App) error) (storage.Order,
		error) {
		return a.c.Billing.Cancel(ctx, orderID, nameOf(by), may)
	})
}

// decide settles an order that the actor may settle.
func (a *Acts) decide(ctx context.Context, by admin.Actor, what string, refused error,
	how func(may func(storage.Order, storage.App) error) (storage.Order, error)) (storage.Order, error) {
	if refused != nil {
		return storage.Order{}, refused
	}
	var before storage.Order
	var app storage.App
	after, err := how(func(o storage.Order, of storage.App) error {
		before, app = o, of
		switch {
		case !Manages(by, o.AppID, o.Owner):
			return storage.ErrNotFound
		case by.Application != "" && !o.Open(): // what is decided binds more than the application
			return notByItself
		}
		return nil
	})
	if err != nil {
		return after, err
	}
	a.c.Forget(after.AppID)
	app.Owner = after.Owner
	a.notify(ctx, by, event.NoticeApp, app, "order of "+after.Tier+" "+after.Status)
	return after, a.noteOrder(ctx, by, what, before, after)
}

// noteOrder writes to the audit trail what became of an order, and waits for it.
func (a *Acts) noteOrder(ctx context.Context, by admin.Actor, what string, before, after storage.Order) error {
	return a.c.Recorder.Note(ctx, by, admin.Act{
		What: what + " " + after.ID + " " + after.Tier, On: after.AppID, App: after.AppID, User: after.Owner,
		Changes: admin.OrderChanges(before, after),
	})
}

// SetTier gives an application a tier at once and for nothing, until a time if it is not zero. The books say so, and an
// order of the application's that waits is canceled.
func (a *Acts) SetTier(ctx context.Context, by admin.Actor, id, tier string, until time.Time) (before,
	after storage.App, err error) {
	if err := administrator(by); err != nil {
		return before, after, err
	}
	after, err = a.c.Billing.SetTier(ctx, id, tier, nameOf(by), until, func(app storage.App) error {
		before = app
		return nil
	})
	if err != nil {
		return before, after, err
	}
	a.c.Forget(id)
	now := time.Now()
	a.notify(ctx, by, event.NoticeApp, after, "tier set to "+after.TierAt(now))
	return before, after, a.c.Recorder.Note(ctx, by, admin.Act{
		What: "tier set", On: id, App: id, User: after.Owner,
		Changes: []string{fmt.Sprintf("tier %s -> %s", tierText(before, now), tierText(after, now))},
	})
}

// tierText describes a tier for the trail, with its end if there is one.
func tierText(a storage.App, now time.Time) string {
	text := a.TierAt(now)
	if end := a.TierUntil(now); !end.IsZero() {
		text += " until " + end.UTC().Format(time.RFC3339)
	}
	return text
}
