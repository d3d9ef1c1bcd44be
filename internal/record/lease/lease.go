// Package lease has one process of many do what not every one of them has to do: a [Task] is work for one process at a
// time, by a document in the store that they share.
//
// # Choices
//
// No process compares the clock of another one with its own. A lease holds while the version of its document moves, by
// the monotonic clock of the observer, so a process that takes one over has watched it stand still for the whole of its
// length. A process with a store of its own is the only one: nothing is written then, and a Task is always its own.
//
// A holder that was paused goes on with what it had begun when it wakes, perhaps beside its successor: a lease saves
// work and does not make it safe. Work under one must come out the same when two do it at once, as sweeping does, or
// be decided by a version in the store, as pruning the audit trail is.
package lease

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/keystile/keystile/internal/record/forward"
	"github.com/keystile/keystile/storage/driver"
)

// carried keeps what a newer version has written into a record.
type carried = forward.Fields

var _ = []carried{Lease{}.carried}

// Store keeps leases; *storage.Store implements it.
type Store interface {
	Shared() bool
	// Lease returns the lease of a task, or driver.ErrNotFound.
	Lease(ctx context.Context, task string) (Lease, error)
	SaveLease(ctx context.Context, l Lease) (Lease, error)
	RemoveLease(ctx context.Context, l Lease) error
}

// Lease says who does a task. Its Version moves with every renewal and every holder.
type Lease struct {
	Task    string    `json:"task"`
	Holder  string    `json:"holder"`
	At      time.Time `json:"at"` // when it was renewed, by the clock of the holder
	Version int64     `json:"-"`
	carried
}

// Task is work that one process at a time is to do. It is used by one goroutine.
type Task struct {
	store  Store
	name   string
	length time.Duration
	self   string

	held  Lease     // Version 0: it is not ours
	until time.Time // what is held may be taken over by others
	seen  int64     // the Version that another one's lease had
	since time.Time // when it was first read
}

// New makes a task. The process that does it must call Mine more often than the length of its lease.
func New(store Store, name string, length time.Duration) *Task {
	return &Task{store: store, name: name, length: length, self: rand.Text()}
}

// Mine reports whether this process is to do the work now, and takes or renews the lease for that.
// It writes at most three times in the length of the lease. Where the store is not shared the work is
// always its own.
//
// A process that is paused after the answer may be overtaken: see Choices.
func (t *Task) Mine(ctx context.Context) (bool, error) {
	if !t.store.Shared() {
		return true, nil
	}
	if now := time.Now(); t.held.Version != 0 && t.until.Sub(now) > t.length/3*2 {
		return true, nil
	}
	if t.held.Version != 0 {
		if mine, err := t.take(ctx, t.held.Version); mine || err != nil {
			return mine, err
		}
	}
	l, err := t.store.Lease(ctx, t.name)
	switch read := time.Now(); {
	case errors.Is(err, driver.ErrNotFound):
		return t.take(ctx, 0)
	case err != nil:
		return false, err
	case l.Holder == t.self: // the answer of a write was lost
		return t.take(ctx, l.Version)
	case l.Version != t.seen:
		t.seen, t.since = l.Version, read
		return false, nil
	case read.Sub(t.since) < t.length:
		return false, nil
	}
	return t.take(ctx, l.Version)
}

// take makes the lease that has a version, 0 for none, this process's own.
func (t *Task) take(ctx context.Context, version int64) (bool, error) {
	began := time.Now()
	saved, err := t.store.SaveLease(ctx, Lease{Task: t.name, Holder: t.self, At: began.UTC(), Version: version})
	if err == nil {
		t.held, t.until = saved, began.Add(t.length)
		return true, nil
	}
	t.held = Lease{}
	if errors.Is(err, driver.ErrConflict) || errors.Is(err, driver.ErrExists) {
		return false, nil // another one was first
	}
	return false, err
}

// Release leaves the work to the next process that asks.
func (t *Task) Release(ctx context.Context) error {
	if t.held.Version == 0 {
		return nil
	}
	held := t.held
	t.held = Lease{}
	if err := t.store.RemoveLease(ctx, held); !errors.Is(err, driver.ErrConflict) {
		return err
	}
	return nil // another one has it
}
