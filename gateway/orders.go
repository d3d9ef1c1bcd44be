package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/apps"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// orders is GET /api/v1/billing/orders.
func (g *Gateway) orders(w http.ResponseWriter, r *http.Request) error {
	m, err := g.manager(r)
	if err != nil {
		return err
	}
	after, err := manage.AfterOf(r)
	if err != nil {
		return err
	}
	q, err := manage.OrderFilter(r)
	if err != nil {
		return err
	}
	all, next := []manage.OrderRecord{}, ""
	if q, there := m.only(q); there {
		var page []storage.Order
		if page, next, err = g.c.Apps.Orders(r.Context(), q, after, manage.PageSize); err != nil {
			return err
		}
		for _, order := range page {
			all = append(all, manage.OrderOf(order))
		}
	}
	return reply.Success(w, struct {
		Orders []manage.OrderRecord `json:"orders"`
		Next   string               `json:"next"` // send it as after for more; "": there is no more
	}{all, next})
}

// only narrows a query to the manager's orders; false if there can be none.
func (m manager) only(q storage.OrderQuery) (storage.OrderQuery, bool) {
	if !m.itself() {
		q.Owner = m.user.Sub
		return q, true
	}
	there := q.AppID == "" || q.AppID == m.app.ID
	q.AppID = m.app.ID
	return q, there
}

// oneOrder is GET and DELETE /api/v1/billing/orders/{order_id}. What is deleted is kept as
// canceled: the books are not rewritten.
func (g *Gateway) oneOrder(w http.ResponseWriter, r *http.Request) error {
	m, err := g.manager(r)
	if err != nil {
		return err
	}
	order, err := g.c.Apps.Order(r.Context(), r.PathValue("order_id"))
	if isNotFound(err) || err == nil && !m.has(order.AppID, order.Owner) {
		return noOrder
	}
	if err != nil {
		return err
	}
	if r.Method != http.MethodDelete {
		return reply.Success(w, manage.OrderOf(order))
	}
	if err := manage.NoFields(w, r); err != nil {
		return err
	}
	before := order
	order, err = g.decide(r.Context(), order.ID, func(order storage.Order, a storage.App) (storage.Order, storage.App, error) {
		switch {
		case !m.has(order.AppID, order.Owner):
			return order, a, noOrder
		case m.itself() && !order.Open(): // what is decided binds more than the application
			return order, a, notByItself
		}
		before = order
		return order.Cancel(a, m.by(), time.Now())
	})
	if err != nil {
		return refusal(err)
	}
	if err := g.noteOrder(r, m, "order cancel", before, order); err != nil {
		return err
	}
	return reply.Success(w, manage.OrderOf(order))
}

// noteOrder puts what became of an order on the audit trail, and waits for it.
func (g *Gateway) noteOrder(r *http.Request, m manager, what string, before, after storage.Order) error {
	return g.recorder().Note(r, manage.Act{
		What: what + " " + after.ID + " " + after.Tier, On: after.AppID, By: m.by(), App: after.AppID, User: after.Owner,
		Changes: manage.OrderChanges(before, after),
	})
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
