package billing

import (
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/storage"
)

var errClosed = fmt.Errorf("%w: the order is decided", storage.ErrInvalid)

// approve returns the order, approved, and its application. A higher tier begins at once,
// a lower one at the end of the present one: of its agreed time, or else of the UTC month.
// white_label lasts a year and then falls back to free; until, if it is not zero, is
// another end.
func approve(o storage.Order, a storage.App, by string, at, until time.Time) (storage.Order, storage.App, error) {
	if !o.Open() && o.Status != "" {
		return o, a, errClosed
	}
	from := at.UTC()
	o.PriorEnd = a.TierUntil(at)
	if rank(o.Tier) < rank(a.TierAt(at)) {
		if from = o.PriorEnd; from.IsZero() {
			from = month(at).AddDate(0, 1, 0)
		}
	}
	switch {
	case !until.IsZero() && !until.After(from):
		return o, a, fmt.Errorf("%w: the end is not after the beginning, %s", storage.ErrInvalid, from.Format(time.RFC3339))
	case until.IsZero() && o.Tier == storage.TierWhiteLabel:
		until = from.AddDate(1, 0, 0)
	}
	o.EffectiveAt, o.ExpiresAt = from, until
	a.SetTier(o.Tier, from, until)
	return decided(o, &a, storage.OrderApproved, by, "", at), a, nil
}

// reject returns the order, rejected, and its application.
func reject(o storage.Order, a storage.App, by, reason string, at time.Time) (storage.Order, storage.App, error) {
	if !o.Open() && o.Status != "" {
		return o, a, errClosed
	}
	return decided(o, &a, storage.OrderRejected, by, reason, at), a, nil
}

// cancel returns the order, canceled, and its application. The order must be open, or
// approved for later.
func cancel(o storage.Order, a storage.App, by string, at time.Time) (storage.Order, storage.App, error) {
	switch {
	case o.Open():
	case scheduled(o, at):
		end := o.EffectiveAt
		a.SetTier(a.TierAt(at), end, time.Time{})
		if !o.PriorEnd.IsZero() {
			a.SetTier(storage.TierFree, o.PriorEnd, time.Time{})
		}
	default:
		return o, a, errClosed
	}
	return decided(o, &a, storage.OrderCanceled, by, "", at), a, nil
}

// decided returns the order with its outcome, and ends the application's open order.
func decided(o storage.Order, a *storage.App, status, by, reason string, at time.Time) storage.Order {
	o.Status, o.DecidedBy, o.Reason, o.DecidedAt = status, by, reason, at.UTC()
	if a.Order == o.ID {
		a.Order = ""
	}
	return o
}

// scheduled reports whether the order is approved for later.
func scheduled(o storage.Order, at time.Time) bool {
	return o.Status == storage.OrderApproved && at.Before(o.EffectiveAt)
}

// inEffect reports whether the tier that the order agreed on is still in the application's history.
func inEffect(o storage.Order, a storage.App) bool {
	return slices.ContainsFunc(a.Tiers,
		func(c storage.TierChange) bool { return c.Tier == o.Tier && c.At.Equal(o.EffectiveAt) })
}
