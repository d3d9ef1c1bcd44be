package billing

import (
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
)

// shownOrders bounds how many orders a page has.
const shownOrders = 50

// browseOrders is listOrders for a page: without a status, who sees everybody's orders gets those
// that wait. The status all stands for every one.
func (s *Billing) browseOrders(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	after, err := adminapi.AfterOf(r)
	if err != nil {
		return nil, err
	}
	status, q := r.URL.Query().Get("status"), storage.OrderQuery{}
	if status != "" && !adminapi.IsID(status) {
		return nil, adminapi.BadQuery.Saying("status is written as it is in an order")
	}
	q.Status = status
	if typed := r.URL.Query().Get("client_id"); typed != "" {
		if q.AppID, err = s.c.Finder.AppID(r.Context(), who, "client_id", typed); err != nil {
			return ordersRecord{}, err
		}
	}
	switch everybodys := who.Reader() == nil; {
	case q.Status == "all":
		q.Status = ""
	case q.Status == "" && q.AppID == "" && everybodys:
		q.Status = storage.OrderPending
	}
	if who.Reader() != nil {
		q.Owner = who.Sub
	}
	return s.orders(r, q, after, shownOrders)
}

// Yuan returns the price for a year.
func (o orderRecord) Yuan() string { return yuan(o.Price.Amount) }

// Open reports whether the order waits for a decision.
func (o orderRecord) Open() bool {
	return o.Status == storage.OrderPending || o.Status == storage.OrderContact
}

// Cancelable reports whether the order can be taken back: it waits, or has yet to begin.
func (o orderRecord) Cancelable() bool {
	if o.Status != storage.OrderApproved || o.EffectiveAt == nil {
		return o.Open()
	}
	at, err := time.Parse(adminapi.ISO8601, *o.EffectiveAt)
	return err == nil && at.After(time.Now())
}
