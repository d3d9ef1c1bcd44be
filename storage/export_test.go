package storage

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/clock"
	"github.com/keystile/keystile/storage/internal/document"
)

// DocumentsForTest returns what a store keeps its records in.
func DocumentsForTest(s *Store) *document.Store { return s.documents }

// KindsForTest are all kinds of documents.
var KindsForTest = kinds

// OpenKnowing is Open in a version that knows these features.
func OpenKnowing(ctx context.Context, b driver.Backend, known []Feature, keys ...MasterKey) (*Store, error) {
	return open(ctx, b, clock.ReadMachine, known, keys)
}

// OpenOn is Open in a process on a machine whose clocks are read like this.
func OpenOn(ctx context.Context, b driver.Backend, read func() (wall time.Time, ran time.Duration),
	keys ...MasterKey) (*Store, error) {
	return open(ctx, b, func() clock.Reading {
		wall, ran := read()
		return clock.Reading{Wall: wall, Ran: ran}
	}, document.Features(), keys)
}

// AskClock asks the store what time it is, as a serving process does every two seconds.
func (s *Store) AskClock(ctx context.Context) error { return clock.Ask(ctx, s.storeClock) }
