// Package turns bounds what is done at a time: documents that are read, capabilities that are shown, and upstreams that
// are asked.
package turns

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/reply"
)

const (
	maxWaiting      = 512 // that wait for a turn; nothing of their bodies has been read
	maxOwnerWaiting = 64  // of one user

	turnWait = 10 * time.Second // how long they wait
)

var retryLater = http.Header{"Retry-After": {strconv.Itoa(int(turnWait / time.Second))}}

// Refusals of those that have waited too long.
var (
	// RFC 6585 4
	tooManyOwn = &reply.Failure{Status: 429, Msg: "you are sending a document already, or being shown one: wait " +
		"until that is answered, then send this again", Header: retryLater}
	// RFC 9110 15.6.4
	tooManyInAll = &reply.Failure{Status: 503,
		Msg: "others are sending documents, of which few are read at a time: send this again in a moment", Header: retryLater}
)

// Turns bounds how many operations run at a time, in all and for each user. Those that wait are let in in the
// order in which they came, but for those whose user has as many running as one may have.
//
// A waiting request has not read its body into memory, and gives up when its client disconnects. The limit of one for
// a user is below that of all, so that one user keeps no other out. Capabilities that are shown, and upstreams that
// are asked while they are registered, are bounded likewise.
type Turns struct {
	Most, MostOfOne int // that run at a time, in all and of one user

	mu      sync.Mutex
	running map[string]int // by user
	waiting []*waiter
}

type waiter struct {
	user string
	turn chan struct{} // closed when it is let in
}

// Take waits for a turn, which the caller must end by calling leave. Its errors say that it took too long, or
// that ctx ended.
func (t *Turns) Take(ctx context.Context, user string) (leave func(), err error) {
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
func (t *Turns) enter(user string) (*waiter, error) {
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
func (t *Turns) free(user string) bool {
	all := 0
	for _, n := range t.running {
		all += n
	}
	return all < t.Most && t.running[user] < t.MostOfOne
}

func (t *Turns) begin(user string) {
	if t.running == nil {
		t.running = map[string]int{}
	}
	t.running[user]++
}

func (t *Turns) leave(user string) {
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
func (t *Turns) giveUp(w *waiter) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.waiting)
	t.waiting = slices.DeleteFunc(t.waiting, func(other *waiter) bool { return other == w })
	return len(t.waiting) < n
}

// refusal says whose fault it is that a turn has not come.
func (t *Turns) refusal(user string) *reply.Failure {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running[user] >= t.MostOfOne {
		return tooManyOwn
	}
	return tooManyInAll
}

// Readings bounds the documents that are read at a time.
type Readings struct {
	Turns
	Parsers chan struct{} // holds one value for each document being parsed
}

// readingKey leads from a ctx to what ends the turn of its holder to read a document.
type readingKey struct{ of *Readings }

// Begin waits for a turn, which the ctx carries that it returns: whatever is called with that has
// it, and does not wait again.
func (t *Readings) Begin(ctx context.Context, actor string) (_ context.Context, leave func(), err error) {
	if ctx.Value(readingKey{t}) != nil {
		return ctx, func() {}, nil
	}
	if leave, err = t.Take(ctx, actor); err != nil {
		return ctx, nil, err
	}
	leave = sync.OnceFunc(leave)
	return context.WithValue(ctx, readingKey{t}, leave), leave, nil
}

// End ends the turn early: what is left to do holds no document.
func (t *Readings) End(ctx context.Context) {
	if leave, ok := ctx.Value(readingKey{t}).(func()); ok {
		leave()
	}
}

// Parse waits until another document may be parsed, or ctx ends. The caller must call leave when it is.
func (t *Readings) Parse(ctx context.Context) (leave func(), err error) {
	select {
	case t.Parsers <- struct{}{}:
		return func() { <-t.Parsers }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
