package toolacts

import (
	"context"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// StillWaits refuses to send a delivery again that was not given up.
// decision 30
var StillWaits = &reply.Failure{Status: 409,
	Msg: "this delivery waits for its next attempt: there is nothing to send again"}

// Resend makes a delivery to the webhook of a capability, which was given up, wait to be sent again. The owner of the
// capability may, and administrators.
func (a *Acts) Resend(ctx context.Context, by admin.Actor, member, id string) (storage.Delivery, error) {
	c, err := a.own(ctx, by, member)
	if err != nil {
		return storage.Delivery{}, err
	}
	all, err := a.c.Store.Deliveries(ctx, c.Member)
	if err != nil {
		return storage.Delivery{}, err
	}
	i := slices.IndexFunc(all, func(d storage.Delivery) bool { return d.ID == id })
	if i < 0 {
		return storage.Delivery{}, &Missing{Kind: "delivery", Name: id}
	}
	d := all[i]
	if d.Waiting() {
		return d, StillWaits
	}
	d.GivenUpAt, d.NextAt, d.Attempts = time.Time{}, time.Now().UTC(), 0
	if d, err = a.c.Store.SaveDelivery(ctx, d); err != nil {
		return d, err
	}
	return d, a.c.Recorder.Note(ctx, by, admin.Act{
		What: "delivery resend", On: id, User: c.Owner, Changes: []string{c.Member + ": given up -> waiting"},
	})
}
