package apps

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// The statuses of an order.
const (
	OrderPending  = "pending"  // waits for an administrator
	OrderContact  = "contact"  // waits for terms to be agreed on
	OrderApproved = "approved" // holds from EffectiveAt on
	OrderRejected = "rejected"
	OrderCanceled = "canceled"
)

// Order is a request for another tier of an application, and its outcome. An application
// has at most one open order.
type Order struct {
	ID          string    `json:"id"`
	AppID       string    `json:"app"`
	Owner       string    `json:"owner"` // of the application, a sub
	By          string    `json:"by"`    // a sub, or a client_id that acted for its owner
	From        string    `json:"from"`  // the tier there was
	Tier        string    `json:"tier"`
	Status      string    `json:"status"`
	AmountFen   int64     `json:"amount_fen"` // for a year, in hundredths of a yuan
	CreatedAt   time.Time `json:"created_at"`
	DecidedAt   time.Time `json:"decided_at,omitzero"`
	DecidedBy   string    `json:"decided_by,omitempty"`
	Reason      string    `json:"reason,omitempty"` // why it was rejected, for its owner to read
	EffectiveAt time.Time `json:"effective_at,omitzero"`
	ExpiresAt   time.Time `json:"expires_at,omitzero"` // zero: it does not
	PriorEnd    time.Time `json:"prior_end,omitzero"`  // when the tier there was would have ended
	Counted     bool      `json:"counted,omitempty"`   // it is among the OpenOrders of Counts: the Store says so
	Version     int64     `json:"-"`
	carried
}

var Orders = document.Kind[Order]{
	Name: "order",
	ID:   func(o Order) string { return o.ID },
	Index: func(o Order) []string {
		return []string{"all", "owner=" + o.Owner, "app=" + o.AppID, "status=" + o.Status}
	},
	Version: func(o *Order) *int64 { return &o.Version },
}

// Open reports whether the order still waits for a decision.
func (o Order) Open() bool { return o.Status == OrderPending || o.Status == OrderContact }

// Order returns an order, or ErrNotFound.
func (s *Store) Order(ctx context.Context, id string) (Order, error) {
	return document.Get(ctx, s.docs, Orders, id)
}

// OrderQuery selects orders: all, or those that match each field that is set.
type OrderQuery struct{ Owner, AppID, Status string }

// Orders returns a page of orders, the oldest first, that come after one; after "" it is the
// first page. The narrowest of what the query names is looked up, and the rest is left out
// of the page, which may then have less than n. next is the after of the next page, "" if
// there is none.
func (s *Store) Orders(ctx context.Context, q OrderQuery, after string, n int) (page []Order, next string, err error) {
	entry := "all"
	for _, by := range []struct{ entry, value string }{{"status=", q.Status}, {"owner=", q.Owner}, {"app=", q.AppID}} {
		if by.value != "" {
			entry = by.entry + by.value
		}
	}
	span := driver.Is(entry)
	if after != "" {
		span.From = driver.After(entry, after)
	}
	found, more, err := document.List(ctx, s.docs, Orders, span, n)
	if err != nil {
		return nil, "", err
	}
	for _, o := range found {
		if q.fits(o) {
			page = append(page, o)
		}
	}
	if more != "" {
		next = found[len(found)-1].ID
	}
	return page, next, nil
}

func (q OrderQuery) fits(o Order) bool {
	fits := func(want, got string) bool { return want == "" || want == got }
	return fits(q.Owner, o.Owner) && fits(q.AppID, o.AppID) && fits(q.Status, o.Status)
}

// SaveOrder writes an order and its application in one step, and with them other orders of it
// that change together. Package gateway/billing decides which changes are allowed. It returns
// ErrConflict if one of them has changed since it was read.
func (s *Store) SaveOrder(ctx context.Context, o Order, a App, others ...Order) (Order, App, error) {
	if len(o.Reason) > 1000 {
		return o, a, fmt.Errorf("%w: the reason has at most 1,000 bytes", document.ErrInvalid)
	}
	if err := a.Check(); err != nil {
		return o, a, fmt.Errorf("%w: application: %w", document.ErrInvalid, err)
	}
	a.UpdatedAt = time.Now().UTC()
	var change document.Tally
	all := append(slices.Clip(others), o)
	countOrders(&change, all)
	docs, err := document.Docs(s.docs, Orders, all...)
	if err != nil {
		return o, a, err
	}
	saved, err := WriteApp(ctx, s, a, change, docs...)
	if err != nil {
		return o, a, err
	}
	o = all[len(all)-1]
	o.Version = saved.Version
	return o, saved, nil
}
