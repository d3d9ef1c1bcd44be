package owner

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// orders serves GET /api/v1/billing/orders.
func (e *Endpoints) orders(w http.ResponseWriter, r *http.Request) error {
	m, err := e.manager(r)
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
	if q, there := m.restrictToManager(q); there {
		var page []storage.Order
		if page, next, err = e.c.Store.Orders(r.Context(), q, after, manage.PageSize); err != nil {
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

// restrictToManager narrows a query to the manager's orders; false if there can be none.
func (m manager) restrictToManager(q storage.OrderQuery) (storage.OrderQuery, bool) {
	if !m.itself() {
		q.Owner = m.user.Sub
		return q, true
	}
	there := q.AppID == "" || q.AppID == m.app.ID
	q.AppID = m.app.ID
	return q, there
}

// oneOrder serves GET and DELETE /api/v1/billing/orders/{order_id}. A deleted order is
// kept as canceled.
func (e *Endpoints) oneOrder(w http.ResponseWriter, r *http.Request) error {
	m, err := e.manager(r)
	if err != nil {
		return err
	}
	order, err := e.c.Store.Order(r.Context(), r.PathValue("order_id"))
	if errors.Is(err, storage.ErrNotFound) || err == nil && !m.owns(order.AppID, order.Owner) {
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
	may := func(order storage.Order, _ storage.App) error {
		switch {
		case !m.owns(order.AppID, order.Owner):
			return noOrder
		case m.itself() && !order.Open(): // what is decided binds more than the application
			return notByItself
		}
		before = order
		return nil
	}
	order, err = e.c.Billing.Cancel(r.Context(), order.ID, billing.Actor{By: m.actor().Name(), May: may})
	if err != nil {
		return refusal(err)
	}
	if err := e.noteOrder(r, m, "order cancel", before, order); err != nil {
		return err
	}
	return reply.Success(w, manage.OrderOf(order))
}

// noteOrder puts what became of an order on the audit trail, and waits for it.
func (e *Endpoints) noteOrder(r *http.Request, m manager, what string, before, after storage.Order) error {
	return e.c.Recorder.Note(r.Context(), m.actor(), admin.Act{
		What: what + " " + after.ID + " " + after.Tier, On: after.AppID, App: after.AppID, User: after.Owner,
		Changes: admin.OrderChanges(before, after),
	})
}

// upgrade is POST /api/v1/billing/upgrade (protocol 4.7): an order of another tier. Asking again
// for what is already asked for answers with the order there is.
func (e *Endpoints) upgrade(w http.ResponseWriter, r *http.Request) error {
	m, err := e.manager(r)
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
	order, made, err := e.c.Billing.Order(r.Context(), id, tier, m.actor().Name(), m.requireOwn)
	if err != nil {
		return refusal(err)
	}
	if made {
		if err := e.noteOrder(r, m, "order create", storage.Order{}, order); err != nil {
			return err
		}
	}
	return reply.Success(w, manage.OrderOf(order))
}
