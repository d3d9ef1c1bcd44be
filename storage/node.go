package storage

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/nodes"
)

var beats = kind[nodes.Beat]{
	name:    "node",
	id:      func(b nodes.Beat) string { return b.ID },
	index:   func(nodes.Beat) []string { return []string{"all"} },
	expires: func(b nodes.Beat) time.Time { return b.Ends },
	version: func(b *nodes.Beat) *int64 { return &b.Version },
}

var leases = kind[nodes.Lease]{
	name:    "lease",
	id:      func(l nodes.Lease) string { return l.Task },
	version: func(l *nodes.Lease) *int64 { return &l.Version },
}

// Beats returns the beats of the first thousand nodes. Revocations wait for the node that lags most, as settle says.
func (s *Store) Beats(ctx context.Context) ([]nodes.Beat, error) {
	all, _, err := beats.list(ctx, s, driver.Is("all"), driver.Page)
	lag := time.Duration(0)
	for _, b := range all {
		lag = max(lag, b.Lag)
	}
	if err == nil {
		s.clock.store.heard(lag)
	}
	return all, err
}

// Beat returns the beat of a node, or ErrNotFound.
func (s *Store) Beat(ctx context.Context, id string) (nodes.Beat, error) {
	return beats.get(ctx, s, id)
}

// SaveBeat writes the beat of a node, with what is known of its clock.
func (s *Store) SaveBeat(ctx context.Context, b nodes.Beat) (nodes.Beat, error) {
	if c := &s.clock.store; c.source != nil {
		b.Ahead, b.Lag = c.apart(), c.lag()
	}
	if err := b.Check(); err != nil {
		return b, err
	}
	return beats.put(ctx, s, b)
}

// RemoveBeat removes the beat of a node that leaves.
func (s *Store) RemoveBeat(ctx context.Context, b nodes.Beat) error { return beats.remove(ctx, s, b) }

// Lease returns who does a task, or ErrNotFound.
func (s *Store) Lease(ctx context.Context, task string) (nodes.Lease, error) {
	return leases.get(ctx, s, task)
}

// SaveLease writes who does a task.
func (s *Store) SaveLease(ctx context.Context, l nodes.Lease) (nodes.Lease, error) {
	return leases.put(ctx, s, l)
}

// RemoveLease leaves a task to others.
func (s *Store) RemoveLease(ctx context.Context, l nodes.Lease) error {
	return leases.remove(ctx, s, l)
}
