package gateway

import (
	"cmp"
	"net/http"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// Billing returns the billing rules over the gateway's own counts, which include this process's
// last call. An order that it decides takes effect with the next call.
func (g *Gateway) Billing() *billing.Billing { return g.billing }

// upgrade serves POST /api/v1/billing/upgrade (protocol 4.7): it orders another tier. A repeated
// request returns the pending order.
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
	order, made, err := g.billing.Order(r.Context(), id, tier, m.actor(), m.requireOwn)
	if err != nil {
		return refusal(err)
	}
	if made {
		if err := g.noteOrder(r, m, "order create", storage.Order{}, order); err != nil {
			return err
		}
	}
	return reply.Success(w, manage.OrderOf(order))
}
