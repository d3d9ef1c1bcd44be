package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// tries bounds how often a write of several deliveries is begun anew, because one of them
// changed between the reading and the writing.
const tries = 10

// change writes documents of a capability and the deliveries that announce it in one step:
// no change without its event, no event without its change.
func (s *Store) change(ctx context.Context, member string, events []Delivery,
	docs ...driver.Doc) (version int64, err error) {
	events = slices.Clone(events)
	for i := range events {
		events[i].Member = member
	}
	err = Queue(ctx, s, events, func(queued []driver.Doc) error {
		version, err = document.Write(ctx, s.docs, slices.Concat(docs, queued)...)
		return err
	})
	return version, err
}

// QueueDeliveries puts deliveries into the queues of their Members, all or none. Of each, Member, Event, URL,
// Secret and Payload are read, and the rest is filled in.
func (s *Store) QueueDeliveries(ctx context.Context, all ...Delivery) error {
	return Queue(ctx, s, all, func(queued []driver.Doc) error {
		if len(queued) == 0 {
			return nil
		}
		_, err := document.Write(ctx, s.docs, queued...)
		return err
	})
}

// Queue has write put the documents by which deliveries join their queues together with those that it
// writes itself, in one step. It repeats that where a queue has changed meanwhile.
func Queue(ctx context.Context, s *Store, all []Delivery, write func(queued []driver.Doc) error) error {
	if len(all) == 0 {
		return write(nil)
	}
	for range tries {
		docs, err := s.queueAll(ctx, all)
		if err != nil {
			return err
		}
		err = write(docs)
		if in := (*driver.PutError)(nil); errors.As(err, &in) && in.Kind == deliveries.Name {
			continue
		}
		if err == nil {
			s.wake()
		}
		return err
	}
	return restless(all[0].Member)
}

// queueAll returns the documents that append deliveries to the queues of their Members.
func (s *Store) queueAll(ctx context.Context, all []Delivery) (docs []driver.Doc, err error) {
	var members []string
	of := map[string][]Delivery{}
	for _, d := range all {
		if of[d.Member] == nil {
			members = append(members, d.Member)
		}
		of[d.Member] = append(of[d.Member], d)
	}
	for _, member := range members {
		queued, err := s.queue(ctx, member, of[member])
		if err != nil {
			return nil, err
		}
		docs = append(docs, queued...)
	}
	return docs, nil
}

func restless(member string) error {
	return fmt.Errorf("%w: the deliveries of %q change faster than they can be written", document.ErrUnavailable, member)
}

// queue returns the documents that append events to a capability's queue, and those that
// make room for them. Deliveries to another URL are dropped: its owner has replaced that
// URL, and the new URL must not wait until the old one is given up.
func (s *Store) queue(ctx context.Context, member string, events []Delivery) ([]driver.Doc, error) {
	waiting, err := document.All(ctx, s.docs, deliveries, driver.Is(queueEntry(member)))
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	at := now
	if n := len(waiting); n > 0 && !waiting[n-1].CreatedAt.Before(at) {
		at = waiting[n-1].CreatedAt.Add(1) // of a node whose clock is ahead
	}
	var docs []driver.Doc
	drops, dropped := dropsFor(waiting, events)
	if dueList(member) == toldList {
		drops, dropped = dropsForTold(waiting, events)
	}
	for _, d := range drops {
		docs = append(docs, driver.Doc{Kind: deliveries.Name, ID: d.ID, Version: d.Version, Deleted: true})
	}
	for i, e := range events {
		made := at.Add(time.Duration(i))
		d := Delivery{
			ID: document.TimedID("msg_", made), Event: e.Event, Member: member, URL: e.URL, Secret: e.Secret, Payload: e.Payload,
			CreatedAt: made, NextAt: now, ExpiresAt: made.Add(lifeIn(member)),
		}
		if i == 0 {
			d.Dropped = dropped
		}
		if err := d.check(); err != nil {
			return nil, err
		}
		doc, err := deliveries.Doc(s.docs, d)
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// dropsFor picks the deliveries that are dropped for new events, and counts those that are dropped
// because the queue is full, and were before. The first of the queue
// keeps its place, or a queue that is always full would never finish its attempts.
func dropsFor(waiting, events []Delivery) (out []Delivery, dropped int) {
	var stay []Delivery
	for _, d := range waiting {
		if slices.ContainsFunc(events, func(e Delivery) bool { return e.URL == d.URL }) {
			stay = append(stay, d)
		} else {
			out = append(out, d)
		}
	}
	full, dropped := overflow(stay, len(events)+len(stay)-MaxWaiting)
	return append(out, full...), dropped
}

// dropsForTold is dropsFor of applications and user events, whose address is looked up when they are sent. What
// says the same as a new one gives way to it, so that one user who signs out everywhere again and again takes no
// place of others. It drops no more than come: what one step writes stays small.
func dropsForTold(waiting, events []Delivery) (out []Delivery, dropped int) {
	if len(waiting) == 0 {
		return nil, 0
	}
	for _, e := range events {
		same := slices.IndexFunc(waiting[1:], func(d Delivery) bool { return bytes.Equal(d.Payload, e.Payload) })
		if same >= 0 {
			d := waiting[1+same]
			waiting = slices.Delete(slices.Clone(waiting), 1+same, 2+same)
			out, dropped = append(out, d), dropped+d.Dropped
		}
	}
	room := len(events) - len(out)
	full, more := overflow(waiting, min(room, len(events)+len(waiting)-MaxTold))
	return append(out, full...), dropped + more
}

// overflow picks the deliveries behind the first that have to go, and counts them and what was dropped before.
func overflow(stay []Delivery, over int) (out []Delivery, dropped int) {
	if over = min(over, len(stay)-1); over <= 0 {
		return nil, 0
	}
	out = stay[1 : 1+over]
	for _, d := range out {
		dropped += 1 + d.Dropped
	}
	return out, dropped
}
