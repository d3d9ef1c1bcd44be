package gateway

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/apps"
	"github.com/keystile/keystile/storage"
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

// orderRecord is an order as its owner sees it (entry 30 of the decisions).
type orderRecord struct {
	OrderID     string  `json:"order_id"`
	ClientID    string  `json:"client_id"`
	FromTier    string  `json:"from_tier"`
	Tier        string  `json:"tier"`
	Status      string  `json:"status"` // pending, contact, approved, rejected or canceled
	Price       price   `json:"price"`
	EffectiveAt *string `json:"effective_at"` // null: not decided
	ExpiresAt   *string `json:"expires_at"`   // null: no end is agreed on
	CreatedAt   string  `json:"created_at"`
	DecidedAt   *string `json:"decided_at"`
	Reason      string  `json:"reason"`
}

func orderOf(o storage.Order) orderRecord {
	return orderRecord{
		OrderID: o.ID, ClientID: o.AppID, FromTier: o.From, Tier: o.Tier, Status: o.Status,
		Price:       price{o.AmountFen, currency, "year"},
		EffectiveAt: stamp(o.EffectiveAt), ExpiresAt: stamp(o.ExpiresAt),
		CreatedAt: o.CreatedAt.UTC().Format(iso8601), DecidedAt: stamp(o.DecidedAt), Reason: o.Reason,
	}
}

const currency = "CNY"

// upgrade is POST /api/v1/billing/upgrade (spec 4.7): an order of another tier. Asking again
// for what is already asked for answers with the order there is.
func (g *Gateway) upgrade(w http.ResponseWriter, r *http.Request) error {
	o, err := g.owner(r)
	if err != nil {
		return err
	}
	f, err := readFields(w, r, "client_id", "tier")
	if err != nil {
		return err
	}
	caller, _, _ := g.caller(r)
	id, tier := caller.AppID, ""
	if err := cmp.Or(f.read("client_id", "a text", &id), f.read("tier", "a text", &tier)); err != nil {
		return err
	}
	if !storage.IsTier(tier) {
		return badBody.Saying("tier is none of free, white_label, enterprise")
	}
	order, made, err := g.order(r.Context(), o, id, tier)
	if err != nil {
		return said(err)
	}
	if made {
		g.Forget(order.AppID)
		if err := g.noteAct(r, o, "order "+order.ID+" "+order.Tier+" "+order.Status, order.AppID); err != nil {
			return err
		}
	}
	return success(w, orderOf(order))
}

// order makes an order, in one step with what it changes.
func (g *Gateway) order(ctx context.Context, o owner, id, tier string) (order storage.Order, made bool, err error) {
	now := time.Now().UTC()
	orderID := storage.NewOrderID(now)
	order, err = storage.Again(ctx, func() (storage.Order, error) {
		app, err := g.managed(ctx, o, id)
		if err != nil {
			return storage.Order{}, err
		}
		switch open, err := g.openOrder(ctx, app); {
		case err != nil:
			return storage.Order{}, err
		case open.Tier == tier:
			return open, nil
		case open.ID != "":
			return storage.Order{}, badBody.Saying("order " + open.ID + " is open: wait for it, or take it back with DELETE /api/v1/billing/orders/" + open.ID)
		}
		switch agreed, err := g.agreedOrder(ctx, app, tier, now); {
		case err != nil:
			return storage.Order{}, err
		case agreed.ID != "":
			return agreed, nil
		}
		if tier == app.TierAt(now) {
			return storage.Order{}, badBody.Saying("the application is " + tier + " already")
		}
		order := storage.Order{
			ID: orderID, AppID: app.ID, Owner: app.Owner, By: o.by, From: app.TierAt(now), Tier: tier,
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
		page, next, err := g.c.Apps.Orders(ctx, storage.OrderQuery{AppID: app.ID, Status: storage.OrderApproved}, after, storage.Page)
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

// orders is GET /api/v1/billing/orders.
func (g *Gateway) orders(w http.ResponseWriter, r *http.Request) error {
	o, err := g.owner(r)
	if err != nil {
		return err
	}
	after, err := afterOf(r)
	if err != nil {
		return err
	}
	q := storage.OrderQuery{Owner: o.Sub, AppID: r.URL.Query().Get("client_id"), Status: r.URL.Query().Get("status")}
	for _, text := range []string{q.AppID, q.Status} {
		if text != "" && !isID(text) {
			return badQuery.Saying("client_id and status are written as they are in an order")
		}
	}
	page, next, err := g.c.Apps.Orders(r.Context(), q, after, pageSize)
	if err != nil {
		return err
	}
	all := []orderRecord{}
	for _, order := range page {
		all = append(all, orderOf(order))
	}
	return success(w, struct {
		Orders []orderRecord `json:"orders"`
		Next   string        `json:"next"` // send it as after for more; "": there is no more
	}{all, next})
}

// oneOrder is GET and DELETE /api/v1/billing/orders/{order_id}. What is deleted is kept as
// canceled: the books are not rewritten.
func (g *Gateway) oneOrder(w http.ResponseWriter, r *http.Request) error {
	o, err := g.owner(r)
	if err != nil {
		return err
	}
	order, err := g.c.Apps.Order(r.Context(), r.PathValue("order_id"))
	if isNotFound(err) || err == nil && !o.may(order.Owner) {
		return noOrder
	}
	if err != nil {
		return err
	}
	if r.Method != http.MethodDelete {
		return success(w, orderOf(order))
	}
	if err := none(w, r); err != nil {
		return err
	}
	order, err = g.decide(r.Context(), order.ID, func(order storage.Order, a storage.App) (storage.Order, storage.App, error) {
		return order.Cancel(a, o.by, time.Now())
	})
	if err != nil {
		return said(err)
	}
	if err := g.noteAct(r, o, "order cancel "+order.ID, order.AppID); err != nil {
		return err
	}
	return success(w, orderOf(order))
}

// Approve lets an order that waits take effect; until, if it is not zero, is when it ends
// instead of a year later. storage.ErrInvalid: it does not wait.
func (g *Gateway) Approve(ctx context.Context, orderID, by string, until time.Time) (storage.Order, error) {
	return g.decide(ctx, orderID, func(o storage.Order, a storage.App) (storage.Order, storage.App, error) {
		return o.Approve(a, by, time.Now(), until)
	})
}

// Reject refuses an order that waits; its owner reads the reason. storage.ErrInvalid: it
// does not wait.
func (g *Gateway) Reject(ctx context.Context, orderID, by, reason string) (storage.Order, error) {
	return g.decide(ctx, orderID, func(o storage.Order, a storage.App) (storage.Order, storage.App, error) {
		return o.Reject(a, by, reason, time.Now())
	})
}

func (g *Gateway) decide(ctx context.Context, id string, how func(storage.Order, storage.App) (storage.Order, storage.App, error)) (storage.Order, error) {
	order, err := apps.Decide(ctx, g.c.Apps, id, how)
	if err == nil {
		g.Forget(order.AppID)
	}
	return order, err
}
