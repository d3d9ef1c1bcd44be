package appsapi

import (
	"net/http"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin/appacts"
)

// orderPage is a page of orders.
type orderPage struct {
	Orders []adminapi.OrderRecord `json:"orders"`
	Next   string                 `json:"next"` // send it as after for more; "": there is no more
}

// listOrders serves GET /api/v1/billing/orders: those of the manager.
func (e *Endpoints) listOrders(_ http.ResponseWriter, r *http.Request, by manager) (any, error) {
	after, err := adminapi.AfterOf(r)
	if err != nil {
		return nil, err
	}
	q, err := adminapi.OrderFilter(r)
	if err != nil {
		return nil, err
	}
	all := orderPage{Orders: []adminapi.OrderRecord{}}
	switch {
	case by.Application == "":
		if q.Owner, err = by.ownerOf(r); err != nil {
			return nil, err
		}
	case q.AppID == "" || q.AppID == by.Application:
		q.AppID = by.Application
	default:
		return all, nil
	}
	page, next, err := e.c.Store.Orders(r.Context(), q, after, adminapi.PageSize)
	for _, order := range page {
		all.Orders = append(all.Orders, adminapi.OrderOf(order))
	}
	all.Next = next
	return all, err
}

// showOrder serves GET /api/v1/billing/orders/{order_id}.
func (e *Endpoints) showOrder(_ http.ResponseWriter, r *http.Request, by manager) (any, error) {
	order, err := e.c.Store.Order(r.Context(), r.PathValue("order_id"))
	if err == nil && !appacts.Manages(by.Actor, order.AppID, order.Owner) {
		err = noOrder
	}
	return adminapi.OrderOf(order), adminapi.Refusal(err, noOrder)
}

// cancelOrder serves DELETE /api/v1/billing/orders/{order_id}. The order is kept as canceled.
func (e *Endpoints) cancelOrder(w http.ResponseWriter, r *http.Request, by manager) (any, error) {
	if err := adminapi.NoFields(w, r); err != nil {
		return nil, err
	}
	order, err := e.c.Acts.Cancel(r.Context(), by.Actor, r.PathValue("order_id"))
	return adminapi.OrderOf(order), adminapi.Refusal(err, noOrder)
}

// upgrade serves POST /api/v1/billing/upgrade (protocol 4.7): an order of another tier. Asking again
// for what is already asked for answers with the order there is.
func (e *Endpoints) upgrade(w http.ResponseWriter, r *http.Request, by manager) (any, error) {
	id, tier := by.app.ID, ""
	if err := adminapi.ReadInto(w, r, adminapi.Text("client_id", &id), adminapi.Text("tier", &tier)); err != nil {
		return nil, err
	}
	order, err := e.c.Acts.Order(r.Context(), by.Actor, id, tier)
	return adminapi.OrderOf(order), err
}
