package tools

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/secret"
)

// Limits of deliveries.
const (
	// deliveries of one capability; a newer one takes the place of the oldest that was not tried
	MaxWaiting   = 50
	MaxPayload   = 64 << 10           // bytes of a delivery
	DeliveryLife = 7 * 24 * time.Hour // from its making, and again from when it was given up

	MaxTold    = 500           // deliveries of one application, and of user events; likewise
	LogoutLife = 3 * time.Hour // in which an application can be told of the end of a session
)

// Delivery is one event on its way to a capability's webhook (Standard Webhooks), to the webhook of
// user events, or to an application that learns of the end of sessions. It waits
// until it is delivered, which removes it, or given up. The pending deliveries of a
// capability are a queue: they are delivered in the order in which they were made. So are those of
// an application and those of user events, with a Member of package notify.
type Delivery struct {
	ID         string        `json:"id"` // webhook-id, the same at each attempt; in the order of making
	Event      string        `json:"event"`
	Member     string        `json:"member"`
	URL        string        `json:"url"`
	Secret     secret.Secret `json:"-"` // none: it is not signed
	Payload    []byte        `json:"payload"`
	CreatedAt  time.Time     `json:"created_at"`
	NextAt     time.Time     `json:"next_at"` // when it is due, or its sender's lease ends; up to the year 9999
	Attempts   int           `json:"attempts"`
	LastStatus int           `json:"last_status,omitempty"` // of HTTP; 0: no answer
	LastError  string        `json:"last_error,omitempty"`  // for its owner to read, without address or secret
	GivenUpAt  time.Time     `json:"given_up_at,omitzero"`
	ExpiresAt  time.Time     `json:"expires_at"`
	Dropped    int           `json:"dropped,omitempty"` // how many before it were dropped because its queue was full
	Version    int64         `json:"-"`
	carried
}

// Waiting reports whether the delivery is still pending.
func (d Delivery) Waiting() bool { return d.GivenUpAt.IsZero() }

var deliveries = document.Kind[Delivery]{
	Name:    "delivery",
	ID:      func(d Delivery) string { return d.ID },
	Index:   Delivery.entries,
	Expires: func(d Delivery) time.Time { return d.ExpiresAt },
	Version: func(d *Delivery) *int64 { return &d.Version },
	Secrets: func(d *Delivery) map[string]*secret.Secret { return map[string]*secret.Secret{"secret": &d.Secret} },
}

// entries returns the index entries; a delivery that was given up is in no queue and never due.
func (d Delivery) entries() []string {
	all := []string{"member=" + d.Member}
	if d.Waiting() {
		all = append(all, queueEntry(d.Member), document.DueOn(dueList(d.Member), d.NextAt))
	}
	return all
}

func queueEntry(member string) string { return "waiting=" + member }

// check returns why a delivery cannot be stored.
func (d Delivery) check() error {
	switch {
	case d.Member == "" || d.Event == "" || d.URL == "":
		return fmt.Errorf("%w: a delivery needs a member, an event and a URL", document.ErrInvalid)
	case len(d.Payload) == 0 || len(d.Payload) > MaxPayload:
		return fmt.Errorf("%w: the payload of a delivery is 1 to %d bytes, not %d", document.ErrInvalid, MaxPayload,
			len(d.Payload))
	case d.NextAt.IsZero():
		return fmt.Errorf("%w: a delivery needs a time at which it is due", document.ErrInvalid)
	}
	return nil
}

// WaitsAt reports whether a delivery is not due yet at a time.
func (d Delivery) WaitsAt(at time.Time) bool { return d.Wait(at) > 0 }

// Wait returns how long a delivery is not due yet at a time; 0: it is due.
func (d Delivery) Wait(at time.Time) time.Duration { return document.WaitUntil(d.NextAt, at) }

// DueDeliveries returns up to n deliveries that are due by a time, the earliest first, and
// those that were deferred by a clock that was ahead. Some may have to wait for another of
// their queue: see FirstDelivery.
func (s *Store) DueDeliveries(ctx context.Context, at time.Time, n int) ([]Delivery, error) {
	return document.ListDue(ctx, s.docs, deliveries, at, n)
}

// FirstDelivery returns the first delivery in a capability's queue, due or not, or
// ErrNotFound if none is pending.
func (s *Store) FirstDelivery(ctx context.Context, member string) (Delivery, error) {
	list, _, err := document.List(ctx, s.docs, deliveries, driver.Is(queueEntry(member)), 1)
	switch {
	case err != nil:
		return Delivery{}, err
	case len(list) == 0:
		return Delivery{}, document.ErrNotFound
	}
	return list[0], nil
}

// Deliveries returns all deliveries of a capability in the order of their making, those
// that were given up included until they expire.
func (s *Store) Deliveries(ctx context.Context, member string) ([]Delivery, error) {
	return document.All(ctx, s.docs, deliveries, driver.Is("member="+member))
}

// SaveDelivery writes a delivery that was read before. A version that has changed meanwhile
// is ErrConflict, so moving NextAt ahead is a lease: of many that try, one may send. Giving
// up the first of a queue makes the next one due, in the same step.
func (s *Store) SaveDelivery(ctx context.Context, d Delivery) (Delivery, error) {
	if d.Version == 0 {
		return d, fmt.Errorf("%w: a delivery is made together with the change it tells of", document.ErrInvalid)
	}
	if err := d.check(); err != nil {
		return d, err
	}
	if d.Waiting() {
		return document.Put(ctx, s.docs, deliveries, d)
	}
	doc, err := deliveries.Doc(s.docs, d)
	if err != nil {
		return d, err
	}
	version, err := s.dequeue(ctx, d, doc)
	if err == nil {
		d.Version = version
	}
	return d, err
}

// DeleteDelivery removes a delivery. If it was the first of its queue, the next one
// becomes due in the same step.
func (s *Store) DeleteDelivery(ctx context.Context, d Delivery) error {
	_, err := s.dequeue(ctx, d, driver.Doc{Kind: deliveries.Name, ID: d.ID, Version: d.Version, Deleted: true})
	return err
}

// dequeue writes the document of a delivery that is no longer in its queue.
func (s *Store) dequeue(ctx context.Context, d Delivery, doc driver.Doc) (int64, error) {
	for range tries {
		docs := []driver.Doc{doc}
		front, _, err := document.List(ctx, s.docs, deliveries, driver.Is(queueEntry(d.Member)), 2)
		if err != nil {
			return 0, err
		}
		if len(front) == 2 && front[0].ID == d.ID {
			// written even if it is due, or a sender that has just seen d in front could defer it
			front[1].NextAt = time.Now().UTC()
			next, err := deliveries.Doc(s.docs, front[1])
			if err != nil {
				return 0, err
			}
			docs = append(docs, next)
		}
		version, err := document.Write(ctx, s.docs, docs...)
		if in := (*driver.PutError)(nil); errors.As(err, &in) && in.ID != d.ID {
			continue
		}
		return version, err
	}
	return 0, restless(d.Member)
}
