package webhook

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile/internal/jobs"
	"github.com/keystile/keystile/storage"
)

// lease is the time that a delivery belongs to the process that took it: an attempt, and time to store what
// it came to. Nodes whose clocks are further apart send the same delivery.
const lease = time.Minute

// claim takes the first delivery of the line that d stands in, if that is due. If it is
// not, d comes due together with it, so that those who have to wait do not fill the page;
// the end of the first makes it due earlier. A d that is made in the instant in which the
// first ends may miss that, and waits for the rest of the lease.
func (s *Sender) claim(ctx context.Context, d storage.Delivery) (first storage.Delivery, ours bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, jobs.LongWait)
	defer cancel()
	first, err = s.store.FirstDelivery(ctx, d.Member)
	if err != nil {
		return first, false, jobs.UnlessOthers(err)
	}
	now := time.Now().UTC()
	switch {
	case first.WaitsAt(now):
		d.NextAt = first.NextAt // if d is the first itself, somebody was quicker, and this is ErrConflict
		_, err = s.store.SaveDelivery(ctx, d)
		return first, false, jobs.UnlessOthers(err)
	case first.Attempts > len(pauses) || !now.Before(first.ExpiresAt):
		first = givenUp(first, now)
		first.LastError = cmp.Or(first.LastError, "it could not be sent in time")
		if _, err = s.store.SaveDelivery(ctx, first); err == nil {
			s.logFailure(ctx, first)
			s.Wake() // its successor is due
		}
		return first, false, jobs.UnlessOthers(err)
	}
	first.Attempts++
	first.NextAt = now.Add(lease)
	first, err = s.store.SaveDelivery(ctx, first)
	return first, err == nil, jobs.UnlessOthers(err)
}

// attempt sends a claimed delivery and stores what came of it.
func (s *Sender) attempt(ctx context.Context, d storage.Delivery) {
	o := s.post(ctx, d)
	if ctx.Err() != nil && o.status == 0 {
		return // cut off by Close: nobody knows what came of it
	}
	if o.delivered() {
		s.rest(ctx)
	}
	next := o.failed(d, time.Now().UTC())
	err := jobs.Record(ctx, d.NextAt, func(ctx context.Context) error {
		if o.over() {
			return s.store.DeleteDelivery(ctx, d)
		}
		_, err := s.store.SaveDelivery(ctx, next)
		return err
	})
	switch {
	case errors.Is(err, storage.ErrConflict):
		s.log.DebugContext(ctx, "the outcome of a webhook was stored before, or somebody else has taken it over", "delivery",
			d.ID, "member", d.Member)
	case err != nil:
		s.log.ErrorContext(ctx, "the outcome of a webhook cannot be stored; it is sent again", "delivery", d.ID, "member",
			d.Member, "status", o.status, "error", err)
	case o.delivered():
		s.log.DebugContext(ctx, "a webhook was delivered", "delivery", d.ID, "member", d.Member, "event", d.Event, "attempts",
			d.Attempts)
	case o.over():
		s.log.WarnContext(ctx, "a webhook is not wanted any more (as by 410 Gone); the event is dropped", "delivery", d.ID,
			"member", d.Member, "event", d.Event)
	default:
		s.logFailure(ctx, next)
	}
}

// rest waits for the Pause. A process that cannot wait sends again, after its lease, what has arrived already.
func (s *Sender) rest(ctx context.Context) {
	if s.pause <= 0 {
		return
	}
	select {
	case <-time.After(s.pause):
	case <-ctx.Done():
	}
}

// logFailure logs a failure. The URL stays out of it: its query may hold a key.
func (s *Sender) logFailure(ctx context.Context, d storage.Delivery) {
	log := s.log.With("delivery", d.ID, "member", d.Member, "event", d.Event, "attempts", d.Attempts, "why", d.LastError)
	if d.Waiting() {
		log.InfoContext(ctx, "a webhook was not delivered; it is tried again", "next", d.NextAt)
		return
	}
	log.WarnContext(ctx, "a webhook was not delivered and is given up; the event can be read until it expires", "expires",
		d.ExpiresAt)
}
