package repeat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/record/idempotency"
	"github.com/keystile/keystile/storage/driver"
)

const (
	maxNotes   = 10_000           // that wait for the store; of further ones it is forgotten that they were charged
	notesStep  = 100              // in one step of the store (driver.MaxPut)
	notesLimit = 10 * time.Second // of one step
	notesPause = time.Second      // after one that failed
)

// notes stores, in the background, that calls were charged.
type notes struct {
	store Store
	wake  chan struct{}
	end   func() // closes stop
	stop  chan struct{}
	done  chan struct{}

	mu      sync.Mutex
	waiting []idempotency.Call
	last    error // of the last step
}

func newNotes(store Store) *notes {
	n := &notes{store: store, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	n.end = sync.OnceFunc(func() { close(n.stop) })
	go n.run()
	return n
}

// add notes a call that was taken: it is charged.
func (n *notes) add(c idempotency.Call) {
	c.Charged = true
	n.mu.Lock()
	if len(n.waiting) < maxNotes {
		n.waiting = append(n.waiting, c)
	}
	n.mu.Unlock()
	select {
	case n.wake <- struct{}{}:
	default: // it knows
	}
}

func (n *notes) run() {
	defer close(n.done)
	for last := false; !last; {
		select {
		case <-n.wake:
		case <-n.again():
		case <-n.stop:
			last = true
		}
		for n.step() {
		}
	}
}

// again returns a channel for the next attempt after a failure, nil if there was none.
func (n *notes) again() <-chan time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last == nil {
		return nil
	}
	return time.After(notesPause)
}

// step stores some of what waits, and reports whether to go on at once.
func (n *notes) step() bool {
	n.mu.Lock()
	batch := slices.Clone(n.waiting[:min(notesStep, len(n.waiting))])
	n.mu.Unlock()
	if len(batch) == 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), notesLimit)
	defer cancel()
	_, err := n.store.SaveKeyedCalls(ctx, batch...)
	left, in := batch, (*driver.PutError)(nil)
	switch {
	case err == nil:
		left = nil
	case errors.As(err, &in): // it was taken over, or swept: the others are stored without it
		left = slices.DeleteFunc(slices.Clone(batch), func(c idempotency.Call) bool { return c.ID == in.ID })
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waiting = slices.Concat(left, n.waiting[len(batch):])
	if n.last = nil; len(left) == len(batch) {
		n.last = err
	}
	return n.last == nil
}

func (n *notes) close(ctx context.Context) error {
	n.end()
	select {
	case <-n.done:
	case <-ctx.Done():
		return fmt.Errorf("repeat: %w", ctx.Err())
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.waiting) > 0 {
		return fmt.Errorf("repeat: of %d calls it is forgotten that they were charged, so that repetitions are charged "+
			"too: %w", len(n.waiting), n.last)
	}
	return nil
}
