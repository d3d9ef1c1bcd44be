package owner

import (
	"cmp"
	"net/http"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// orders serves GET /api/v1/billing/orders.
func (e *Endpoints) orders(w http.ResponseWriter, r *http.Request) error {
	by, _, err := e.manager(r)
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
	if q, there := restrictTo(by, q); there {
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

// restrictTo narrows a query to the manager's orders; false if there can be none.
func restrictTo(by admin.Actor, q storage.OrderQuery) (storage.OrderQuery, bool) {
	if by.Application == "" {
		q.Owner = by.Sub
		return q, true
	}
	there := q.AppID == "" || q.AppID == by.Application
	q.AppID = by.Application
	return q, there
}

// oneOrder serves GET and DELETE /api/v1/billing/orders/{order_id}. A deleted order is
// kept as canceled.
func (e *Endpoints) oneOrder(w http.ResponseWriter, r *http.Request) error {
	by, _, err := e.manager(r)
	if err != nil {
		return err
	}
	var order storage.Order
	if r.Method == http.MethodDelete {
		if err := manage.NoFields(w, r); err != nil {
			return err
		}
		order, err = e.c.Acts.Cancel(r.Context(), by, r.PathValue("order_id"))
	} else {
		order, err = e.c.Store.Order(r.Context(), r.PathValue("order_id"))
		if err == nil && !appacts.Manages(by, order.AppID, order.Owner) {
			err = noOrder
		}
	}
	if err != nil {
		return manage.Refusal(err, noOrder)
	}
	return reply.Success(w, manage.OrderOf(order))
}

// upgrade is POST /api/v1/billing/upgrade (protocol 4.7): an order of another tier. Asking again
// for what is already asked for answers with the order there is.
func (e *Endpoints) upgrade(w http.ResponseWriter, r *http.Request) error {
	by, app, err := e.manager(r)
	if err != nil {
		return err
	}
	f, err := manage.ReadFields(w, r, "client_id", "tier")
	if err != nil {
		return err
	}
	id, tier := app.ID, ""
	if err := cmp.Or(f.Read("client_id", "a text", &id), f.Read("tier", "a text", &tier)); err != nil {
		return err
	}
	order, err := e.c.Acts.Order(r.Context(), by, id, tier)
	if err != nil {
		return refusal(err)
	}
	return reply.Success(w, manage.OrderOf(order))
}
