package tools

import (
	"context"
	"time"

	"github.com/keystile/keystile/internal/record/notify"
	"github.com/keystile/keystile/storage/internal/document"
)

// toldList is the list of what is due of these queues. It is not that of capabilities: those who send
// the one do not know how to send the other.
const toldList = "tell"

func dueList(member string) string {
	if notify.Is(member) {
		return toldList
	}
	return document.PlainList
}

func lifeIn(member string) time.Duration {
	if _, ok := notify.AppOf(member); ok {
		return LogoutLife
	}
	return DeliveryLife
}

// DueTold is DueDeliveries for what applications are told, and for user events.
func (s *Store) DueTold(ctx context.Context, at time.Time, n int) ([]Delivery, error) {
	return document.ListDueOn(ctx, s.docs, deliveries, toldList, at, n)
}

// Queued receives a value after deliveries have joined a queue in this process: of several writes at
// once, one. It is for the one who sends them.
func (s *Store) Queued() <-chan struct{} { return s.queued }

func (s *Store) wake() {
	select {
	case s.queued <- struct{}{}:
	default:
	}
}
