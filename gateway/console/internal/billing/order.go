package billing

import (
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
)

// orderRecord shows an order as /api/v1/billing/orders does, with its owner and who has
// ordered and decided.
type orderRecord struct {
	adminapi.OrderRecord
	Owner     string `json:"owner"`
	By        string `json:"by"`         // a sub, or a client_id
	DecidedBy string `json:"decided_by"` // "": nobody yet
}

func orderOf(o storage.Order) orderRecord {
	return orderRecord{adminapi.OrderOf(o), o.Owner, o.By, o.DecidedBy}
}

// listOrders serves GET /api/console/orders?status=&client_id=&after=.
func (s *Billing) listOrders(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	after, err := adminapi.AfterOf(r)
	if err != nil {
		return nil, err
	}
	q, err := adminapi.OrderFilter(r)
	if err != nil {
		return nil, err
	}
	if who.Reader() != nil {
		q.Owner = who.Sub
	}
	return s.orders(r, q, after, adminapi.PageSize)
}

// ordersRecord is a page of orders.
type ordersRecord struct {
	Orders []orderRecord `json:"orders"`
	Next   string        `json:"next"` // send it as after for more; "": there is no more
}

func (s *Billing) orders(r *http.Request, q storage.OrderQuery, after string, n int) (any, error) {
	page, next, err := s.c.Store.Orders(r.Context(), q, after, n)
	if err != nil {
		return nil, err
	}
	all := []orderRecord{}
	for _, o := range page {
		all = append(all, orderOf(o))
	}
	return ordersRecord{all, next}, nil
}

// showOrder serves GET /api/console/orders/{order_id}.
func (s *Billing) showOrder(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	o, err := s.c.Store.Order(r.Context(), r.PathValue("order_id"))
	if err == nil && !who.Sees(o.Owner) {
		err = noOrder
	}
	return orderOf(o), adminapi.Refusal(err, noOrder)
}

// cancelOrder serves DELETE /api/console/orders/{order_id}. A deleted order is kept as canceled.
func (s *Billing) cancelOrder(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	if err := adminapi.NoFields(w, r); err != nil {
		return nil, err
	}
	return decided(s.c.Acts.Cancel(r.Context(), who, r.PathValue("order_id")))
}

// approveOrder serves POST /api/console/orders/{order_id}/approve.
func (s *Billing) approveOrder(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	text, err := adminapi.ReadText(w, r, "until", "")
	if err != nil {
		return nil, err
	}
	until, err := untilOf(text)
	if err != nil {
		return nil, err
	}
	return decided(s.c.Acts.Approve(r.Context(), who, r.PathValue("order_id"), until))
}

// untilOf reads when a tier ends: a day, which it ends before, or a time. The zero time
// means the tier's normal duration.
func untilOf(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, adminapi.ISO8601} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, nil
		}
	}
	return time.Time{}, adminapi.BadBody.Saying("until is a day such as 2027-11-21, or a time such as " +
		"2027-11-21T15:00:00Z")
}

// rejectOrder serves POST /api/console/orders/{order_id}/reject. Its owner reads the reason.
func (s *Billing) rejectOrder(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	reason, err := adminapi.ReadText(w, r, "reason", "")
	if err != nil {
		return nil, err
	}
	return decided(s.c.Acts.Reject(r.Context(), who, r.PathValue("order_id"), reason))
}

// decided answers with what became of an order.
func decided(o storage.Order, err error) (any, error) {
	return orderOf(o), adminapi.Refusal(err, noOrder)
}
