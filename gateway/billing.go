package gateway

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Billing decides what becomes of an order when it is made. A host that takes money brings
// its own, and decides about what waits with [Gateway.Approve] and [Gateway.Reject].
type Billing interface {
	// Decide returns storage.OrderApproved, OrderRejected with the reason why, OrderPending
	// or OrderContact. It may be asked again about the same order if something else has
	// changed meanwhile, and must not charge twice for one id. With an error nothing is
	// stored.
	Decide(ctx context.Context, order storage.Order, app storage.App) (status, reason string, err error)
}

// ByHand is the Billing of who has none: less is given for nothing, enterprise is talked
// about, and anything else waits for an administrator.
type ByHand struct{}

// Decide implements Billing.
func (ByHand) Decide(_ context.Context, o storage.Order, _ storage.App) (status, reason string, err error) {
	switch o.Tier {
	case storage.TierFree:
		return storage.OrderApproved, "", nil
	case storage.TierEnterprise:
		return storage.OrderContact, "", nil
	}
	return storage.OrderPending, "", nil
}

// upgrade is POST /api/v1/billing/upgrade (spec 4.7): an order of another tier. Asking again
// for what is already asked for answers with the order there is.
func (g *Gateway) upgrade(w http.ResponseWriter, r *http.Request) error {
	m, err := g.manager(r)
	if err != nil {
		return err
	}
	f, err := manage.ReadFields(w, r, "client_id", "tier")
	if err != nil {
		return err
	}
	id, tier := m.app.ID, ""
	if err := cmp.Or(f.Read("client_id", "a text", &id), f.Read("tier", "a text", &tier)); err != nil {
		return err
	}
	if !storage.IsTier(tier) {
		return manage.BadBody.Saying("tier is none of free, white_label, enterprise")
	}
	order, made, err := g.order(r.Context(), m, id, tier)
	if err != nil {
		return refusal(err)
	}
	if made {
		g.Forget(order.AppID)
		if err := g.noteOrder(r, m, "order create", storage.Order{}, order); err != nil {
			return err
		}
	}
	return reply.Success(w, manage.OrderOf(order))
}

// order makes an order, in one step with what it changes.
func (g *Gateway) order(ctx context.Context, m manager, id, tier string) (order storage.Order, made bool, err error) {
	now := time.Now().UTC()
	orderID := storage.NewOrderID(now)
	order, err = storage.RetryOnConflict(ctx, func() (storage.Order, error) {
		app, err := g.managed(ctx, m, id)
		if err != nil {
			return storage.Order{}, err
		}
		switch open, err := g.openOrder(ctx, app); {
		case err != nil:
			return storage.Order{}, err
		case open.Tier == tier:
			return open, nil
		case open.ID != "":
			return storage.Order{}, manage.BadBody.Saying("order " + open.ID + " is open: wait for it, or take it back with DELETE /api/v1/billing/orders/" + open.ID)
		}
		switch agreed, err := g.agreedOrder(ctx, app, tier, now); {
		case err != nil:
			return storage.Order{}, err
		case agreed.ID != "":
			return agreed, nil
		}
		if tier == app.TierAt(now) {
			return storage.Order{}, manage.BadBody.Saying("the application is " + tier + " already")
		}
		order := storage.Order{
			ID: orderID, AppID: app.ID, Owner: app.Owner, By: m.by(), From: app.TierAt(now), Tier: tier,
			AmountFen: g.accounts.tiers.of(tier).PriceFen, CreatedAt: now,
		}
		return g.place(ctx, order, app, now)
	})
	return order, order.ID == orderID, err
}

func (g *Gateway) place(ctx context.Context, order storage.Order, app storage.App, now time.Time) (storage.Order, error) {
	status, reason, err := g.c.Billing.Decide(ctx, order, app)
	if err != nil {
		return order, err
	}
	switch status {
	case storage.OrderApproved:
		order, app, err = order.Approve(app, "billing", now, time.Time{})
	case storage.OrderRejected:
		order, app, err = order.Reject(app, "billing", reason, now)
	case storage.OrderPending, storage.OrderContact:
		order, app = order.Wait(app, status)
	default:
		return order, errStatus
	}
	if err != nil {
		return order, err
	}
	order, _, err = g.c.Apps.SaveOrder(ctx, order, app)
	return order, err
}

// openOrder returns the order of an application that waits, the zero one if none does.
func (g *Gateway) openOrder(ctx context.Context, app storage.App) (storage.Order, error) {
	if app.Order == "" {
		return storage.Order{}, nil
	}
	o, err := g.c.Apps.Order(ctx, app.Order)
	if isNotFound(err) || err == nil && !o.Open() {
		return storage.Order{}, nil
	}
	return o, err
}

// agreedOrder returns the order that gives an application a tier later, the zero one if none
// does.
func (g *Gateway) agreedOrder(ctx context.Context, app storage.App, tier string, now time.Time) (storage.Order, error) {
	if app.TierUntil(now).IsZero() {
		return storage.Order{}, nil
	}
	for after := ""; ; {
		page, next, err := g.c.Apps.Orders(ctx, storage.OrderQuery{AppID: app.ID, Status: storage.OrderApproved}, after, driver.Page)
		if err != nil {
			return storage.Order{}, err
		}
		for _, o := range page {
			if o.Tier == tier && o.Agreed(now) {
				return o, nil
			}
		}
		if after = next; next == "" {
			return storage.Order{}, nil
		}
	}
}
