package storage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// What may have become of an order.
const (
	OrderPending  = "pending"  // waits for an administrator
	OrderContact  = "contact"  // waits for terms to be agreed on
	OrderApproved = "approved" // holds from EffectiveAt on
	OrderRejected = "rejected"
	OrderCanceled = "canceled"
)

// Order is the wish that an application has another tier, and what became of it. Of one
// application at most one is open.
type Order struct {
	ID          string    `json:"id"`
	AppID       string    `json:"app"`
	Owner       string    `json:"owner"` // of the application, a sub
	By          string    `json:"by"`    // who ordered: a sub, or a client_id that acted for its owner
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
	Version     int64     `json:"-"`
	carried
}

var orders = kind[Order]{
	name: "order",
	id:   func(o Order) string { return o.ID },
	index: func(o Order) []string {
		return []string{"all", "owner=" + o.Owner, "app=" + o.AppID, "status=" + o.Status}
	},
	version: func(o *Order) *int64 { return &o.Version },
}

// NewOrderID draws the id of an order. Ids of later orders come later in a list.
func NewOrderID(at time.Time) string {
	return "or" + at.UTC().Format("20060102150405") + strings.ToLower(rand.Text()[:10])
}

// Open reports whether the order waits for somebody.
func (o Order) Open() bool { return o.Status == OrderPending || o.Status == OrderContact }

var errClosed = fmt.Errorf("%w: the order is decided", ErrInvalid)

// Approve returns the order and its application as they are once it is approved. More is
// given at once, and less at the end of what there is: of the agreed time, or else of the
// UTC month. white_label lasts a year and is free again afterwards; until, if it is not
// zero, is another end.
func (o Order) Approve(a App, by string, at, until time.Time) (Order, App, error) {
	if !o.Open() && o.Status != "" {
		return o, a, errClosed
	}
	from := at.UTC()
	o.PriorEnd = a.TierUntil(at)
	if rank(o.Tier) < rank(a.TierAt(at)) {
		if from = o.PriorEnd; from.IsZero() {
			y, m, _ := at.UTC().Date()
			from = time.Date(y, m+1, 1, 0, 0, 0, 0, time.UTC)
		}
	}
	switch {
	case !until.IsZero() && !until.After(from):
		return o, a, fmt.Errorf("%w: the end is not after the beginning, %s", ErrInvalid, from.Format(time.RFC3339))
	case until.IsZero() && o.Tier == TierWhiteLabel:
		until = from.AddDate(1, 0, 0)
	}
	o.EffectiveAt, o.ExpiresAt = from, until
	a.SetTier(o.Tier, from, until)
	return o.decide(&a, OrderApproved, by, "", at), a, nil
}

// Reject returns the order and its application as they are once it is rejected.
func (o Order) Reject(a App, by, reason string, at time.Time) (Order, App, error) {
	if !o.Open() && o.Status != "" {
		return o, a, errClosed
	}
	return o.decide(&a, OrderRejected, by, reason, at), a, nil
}

// Cancel returns the order and its application as they are once it is taken back: while it
// waits, or while what was agreed on has not begun.
func (o Order) Cancel(a App, by string, at time.Time) (Order, App, error) {
	switch {
	case o.Open():
	case o.Agreed(at):
		end := o.EffectiveAt
		a.SetTier(a.TierAt(at), end, time.Time{})
		if !o.PriorEnd.IsZero() {
			a.SetTier(TierFree, o.PriorEnd, time.Time{})
		}
	default:
		return o, a, errClosed
	}
	return o.decide(&a, OrderCanceled, by, "", at), a, nil
}

func (o Order) decide(a *App, status, by, reason string, at time.Time) Order {
	o.Status, o.DecidedBy, o.Reason, o.DecidedAt = status, by, reason, at.UTC()
	if a.Order == o.ID {
		a.Order = ""
	}
	return o
}

// Wait leaves an order open: pending or contact.
func (o Order) Wait(a App, status string) (Order, App) {
	o.Status, a.Order = status, o.ID
	return o, a
}

// Order returns an order, or ErrNotFound.
func (s *Store) Order(ctx context.Context, id string) (Order, error) { return orders.get(ctx, s, id) }

// OrderQuery says which orders are wanted: all, or those that have what is named.
type OrderQuery struct{ Owner, AppID, Status string }

// Orders returns a page of orders, the oldest first, that come after one; after "" it is the
// first page. The narrowest of what the query names is skeletonsMade up, and the rest is left out
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
	found, more, err := orders.list(ctx, s, span, n)
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

// Agreed reports whether the order is approved and has yet to begin.
func (o Order) Agreed(at time.Time) bool {
	return o.Status == OrderApproved && at.Before(o.EffectiveAt)
}

// stands reports whether what the order has agreed on still is.
func (o Order) stands(a App) bool {
	return slices.ContainsFunc(a.Tiers, func(c TierChange) bool { return c.Tier == o.Tier && c.At.Equal(o.EffectiveAt) })
}

// overtaken returns the orders of an application that were agreed on at a time and are no
// longer, as they are once they are canceled.
func (s *Store) overtaken(ctx context.Context, a App, by string, at time.Time) (all []Order, err error) {
	for after := ""; ; {
		page, next, err := s.Orders(ctx, OrderQuery{AppID: a.ID, Status: OrderApproved}, after, driver.Page)
		if err != nil {
			return nil, err
		}
		for _, o := range page {
			if o.Agreed(at) && !o.stands(a) {
				all = append(all, o.decide(&a, OrderCanceled, by, "another change has overtaken it", at))
			}
		}
		if after = next; next == "" {
			return all, nil
		}
	}
}

// SaveOrder writes an order and its application in one step, and with them those orders
// that were agreed on for later and are overtaken. ErrConflict: one of them has changed
// since it was read.
func (s *Store) SaveOrder(ctx context.Context, o Order, a App) (Order, App, error) {
	if len(o.Reason) > 1000 {
		return o, a, fmt.Errorf("%w: the reason has at most 1,000 bytes", ErrInvalid)
	}
	if err := a.Check(); err != nil {
		return o, a, fmt.Errorf("%w: application: %w", ErrInvalid, err)
	}
	return s.putOrders(ctx, o, a)
}

func (s *Store) putOrders(ctx context.Context, o Order, a App, more ...Order) (Order, App, error) {
	a.UpdatedAt = time.Now().UTC()
	if o.Status == OrderApproved {
		gone, err := s.overtaken(ctx, a, o.DecidedBy, o.DecidedAt)
		if err != nil {
			return o, a, err
		}
		// Who has read this very order before it was approved is told of a conflict below.
		more = append(more, slices.DeleteFunc(gone, func(g Order) bool { return g.ID == o.ID })...)
	}
	docs, err := orders.docs(s, append(more, o)...)
	if err != nil {
		return o, a, err
	}
	app, err := apps.doc(s, a)
	if err != nil {
		return o, a, err
	}
	o.Version, err = s.write(ctx, append(docs, app)...)
	a.Version = o.Version
	return o, a, err
}

// SetTier gives an application a tier by an administrator's word, in one step with the
// approved order that says so. An order that is open is canceled by it.
func (s *Store) SetTier(ctx context.Context, a App, tier, by string, at, until time.Time) (Order, App, error) {
	if !IsTier(tier) {
		return Order{}, a, fmt.Errorf("%w: tier: %q is none of free, white_label, enterprise", ErrInvalid, tier)
	}
	if !until.IsZero() && !until.After(at) {
		return Order{}, a, fmt.Errorf("%w: the end is not in the future", ErrInvalid)
	}
	o := Order{
		ID: NewOrderID(at), AppID: a.ID, Owner: a.Owner, By: by, From: a.TierAt(at), Tier: tier, CreatedAt: at.UTC(),
		EffectiveAt: at.UTC(), ExpiresAt: until, PriorEnd: a.TierUntil(at),
	}
	a.SetTier(tier, at, until)
	o = o.decide(&a, OrderApproved, by, "", at)
	waiting, err := s.openOrder(ctx, &a, by, at)
	if err != nil {
		return o, a, err
	}
	if err := a.Check(); err != nil {
		return o, a, fmt.Errorf("%w: application: %w", ErrInvalid, err)
	}
	return s.putOrders(ctx, o, a, waiting...)
}

// openOrder returns the open order of an application as it is once it is canceled, if
// there is one.
func (s *Store) openOrder(ctx context.Context, a *App, by string, at time.Time) ([]Order, error) {
	if a.Order == "" {
		return nil, nil
	}
	o, err := s.Order(ctx, a.Order)
	switch {
	case errors.Is(err, ErrNotFound), err == nil && !o.Open():
		a.Order = ""
		return nil, nil
	case err != nil:
		return nil, err
	}
	return []Order{o.decide(a, OrderCanceled, by, "", at)}, nil
}
