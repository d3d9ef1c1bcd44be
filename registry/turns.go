package registry

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/reply"
)

// Limits of what is done at a time, because of the memory that it takes: a document of 14 MB takes 100 MB while
// it is read, and 250 MB if it is YAML; what is shown of a large capability is copied several times.
const (
	maxReading      = 4 // registrations and previews, from the first byte of the body to the last of the answer
	maxOwnerReading = 1 // of one user, so that nobody keeps the others out
	maxParsers      = 2 // documents of these that are parsed
	maxShowing      = 8 // capabilities that are shown
	maxOwnerShowing = 2 // to one user
	maxFinding      = 4 // registrations whose upstream is asked for its tools
	maxOwnerFinding = 2 // of one user

	maxWaiting      = 512 // that wait for a turn; nothing of their bodies has been read
	maxOwnerWaiting = 64  // of one user

	turnWait = 10 * time.Second // how long they wait
)

// turns bounds how many operations run at a time, in all and for each user. Those that wait are let in in the
// order in which they came, but for those whose user has as many running as one may have.
type turns struct {
	most, mostOfOne int

	mu      sync.Mutex
	running map[string]int // by user
	waiting []*waiter
}

type waiter struct {
	user string
	turn chan struct{} // closed when it is let in
}

// take waits for a turn, which the caller must end by calling leave. Its errors say that it took too long, or
// that ctx ended.
func (t *turns) take(ctx context.Context, user string) (leave func(), err error) {
	leave = func() { t.leave(user) }
	w, err := t.enter(user)
	if w == nil {
		return leave, err
	}
	late := time.NewTimer(turnWait)
	defer late.Stop()
	select {
	case <-w.turn:
		return leave, nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-late.C:
		err = t.refusal(user)
	}
	if t.giveUp(w) {
		return nil, err
	}
	return leave, nil // it was let in at the same moment
}

// enter begins, or returns the place in the queue.
func (t *turns) enter(user string) (*waiter, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free(user) {
		t.begin(user)
		return nil, nil
	}
	own := 0
	for _, w := range t.waiting {
		if w.user == user {
			own++
		}
	}
	switch {
	case own >= maxOwnerWaiting:
		return nil, tooManyOwn
	case len(t.waiting) >= maxWaiting:
		return nil, tooManyInAll
	}
	w := &waiter{user: user, turn: make(chan struct{})}
	t.waiting = append(t.waiting, w)
	return w, nil
}

// free reports whether another one of a user may run. The caller holds the lock.
func (t *turns) free(user string) bool {
	all := 0
	for _, n := range t.running {
		all += n
	}
	return all < t.most && t.running[user] < t.mostOfOne
}

func (t *turns) begin(user string) {
	if t.running == nil {
		t.running = map[string]int{}
	}
	t.running[user]++
}

func (t *turns) leave(user string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running[user]--; t.running[user] == 0 {
		delete(t.running, user)
	}
	t.waiting = slices.DeleteFunc(t.waiting, func(w *waiter) bool {
		if !t.free(w.user) {
			return false
		}
		t.begin(w.user)
		close(w.turn)
		return true
	})
}

// giveUp leaves the queue; false if the turn has come.
func (t *turns) giveUp(w *waiter) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.waiting)
	t.waiting = slices.DeleteFunc(t.waiting, func(other *waiter) bool { return other == w })
	return len(t.waiting) < n
}

// refusal says whose fault it is that a turn has not come.
func (t *turns) refusal(user string) *reply.Failure {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running[user] >= t.mostOfOne {
		return tooManyOwn
	}
	return tooManyInAll
}

var retryLater = http.Header{"Retry-After": {strconv.Itoa(int(turnWait / time.Second))}}

// readingKey leads from a ctx to what ends the turn of its holder to read a document for a Registry.
type readingKey struct{ of *Registry }

// endReading ends the turn early: what is left to do holds no document.
func (g *Registry) endReading(ctx context.Context) {
	if leave, ok := ctx.Value(readingKey{g}).(func()); ok {
		leave()
	}
}

// BeginReading waits until a registration or preview of an actor may be read, and returns the ctx to handle it
// with; the caller must call leave when it has been answered. It is to be called before the body is read into
// memory: a user has one at a time and all users together four, so that large documents do not use up the memory,
// and others wait for 10 seconds. Its error is then a refusal with HTTP status 429 or 503. Register and
// Preview call it where the caller has not.
func (g *Registry) BeginReading(ctx context.Context, actor string) (_ context.Context, leave func(), err error) {
	if ctx.Value(readingKey{g}) != nil {
		return ctx, func() {}, nil
	}
	if leave, err = g.reading.take(ctx, actor); err != nil {
		return ctx, nil, err
	}
	leave = sync.OnceFunc(leave)
	return context.WithValue(ctx, readingKey{g}, leave), leave, nil
}
