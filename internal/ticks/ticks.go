// Package ticks looks now and then at what waits, by one timer for all of it.
//
// Most waits of a connection end within a tick or two. One that is only listed costs no timer of its own, and no
// deadline in the kernel.
package ticks

import (
	"sync"
	"time"
)

// Every is the time between two ticks.
const Every = 10 * time.Millisecond

// Waiter is looked at. Tick reports whether it is to be looked at again.
type Waiter interface {
	Tick() (again bool)
}

// Queue holds the waiters that the next tick looks at. Its timer runs only while there are some. The zero Queue is
// empty.
type Queue[W Waiter] struct {
	mu      sync.Mutex
	waiters []W
	ticking bool
}

// Add lists a waiter, which must not be listed already.
func (q *Queue[W]) Add(w W) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiters = append(q.waiters, w)
	if !q.ticking {
		q.ticking = true
		time.AfterFunc(Every, q.tick)
	}
}

// Idle reports whether nothing is listed, and no timer runs.
func (q *Queue[W]) Idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.ticking && len(q.waiters) == 0
}

func (q *Queue[W]) tick() {
	q.mu.Lock()
	waiters := q.waiters
	q.waiters = nil
	q.mu.Unlock()
	kept := waiters[:0]
	for _, w := range waiters {
		if w.Tick() {
			kept = append(kept, w)
		}
	}
	clear(waiters[len(kept):]) // what waits no more is not held
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiters = append(kept, q.waiters...)
	if q.ticking = len(q.waiters) > 0; q.ticking {
		time.AfterFunc(Every, q.tick)
	}
}
