package service

import (
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile/internal/record/lease"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/clock"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/nodes"
)

var beats = document.Kind[nodes.Beat]{
	Name:    "node",
	ID:      func(b nodes.Beat) string { return b.ID },
	Index:   func(nodes.Beat) []string { return []string{"all"} },
	Expires: func(b nodes.Beat) time.Time { return b.Ends },
	Version: func(b *nodes.Beat) *int64 { return &b.Version },
}

var leases = document.Kind[lease.Lease]{
	Name:    "lease",
	ID:      func(l lease.Lease) string { return l.Task },
	Version: func(l *lease.Lease) *int64 { return &l.Version },
}

// Beats returns the beats of the first thousand nodes. Revocations wait for the node that lags most, as settle says.
func (s *Store) Beats(ctx context.Context) ([]nodes.Beat, error) {
	all, _, err := document.List(ctx, s.docs, beats, driver.Is("all"), driver.Page)
	lag := time.Duration(0)
	for _, b := range all {
		lag = max(lag, b.Lag)
	}
	if err == nil {
		clock.HeardLag(s.clock, lag)
	}
	return all, err
}

// Beat returns the beat of a node, or ErrNotFound.
func (s *Store) Beat(ctx context.Context, id string) (nodes.Beat, error) {
	return document.Get(ctx, s.docs, beats, id)
}

// SaveBeat writes the beat of a node, with what is known of its clock. It returns ErrMoved, and nothing is written any
// more, once the store is served in another place.
func (s *Store) SaveBeat(ctx context.Context, b nodes.Beat) (nodes.Beat, error) {
	if ahead, lag, ok := clock.Lag(s.clock); ok {
		b.Ahead, b.Lag = ahead, lag
	}
	if err := b.Check(); err != nil {
		return b, err
	}
	if err := document.CheckFeatures(ctx, s.docs); errors.Is(err, document.ErrMoved) {
		return b, err
	}
	return document.Put(ctx, s.docs, beats, b)
}

// RemoveBeat removes the beat of a node that leaves.
func (s *Store) RemoveBeat(ctx context.Context, b nodes.Beat) error {
	return document.Remove(ctx, s.docs, beats, b)
}

// Lease returns who does a task, or ErrNotFound.
func (s *Store) Lease(ctx context.Context, task string) (lease.Lease, error) {
	return document.Get(ctx, s.docs, leases, task)
}

// SaveLease writes who does a task.
func (s *Store) SaveLease(ctx context.Context, l lease.Lease) (lease.Lease, error) {
	return document.Put(ctx, s.docs, leases, l)
}

// RemoveLease leaves a task to others.
func (s *Store) RemoveLease(ctx context.Context, l lease.Lease) error {
	return document.Remove(ctx, s.docs, leases, l)
}
