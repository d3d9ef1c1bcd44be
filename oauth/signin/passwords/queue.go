package passwords

import (
	"container/list"
	"context"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/storage"
)

const (
	maxWait     = 3 * time.Second // for which a password waits to be hashed
	maxWaiting  = 1024            // passwords that wait in one line; each is a request with all it holds
	hashHistory = 5 * time.Minute // for which an unknown client's password counts at least; twice as long at most
	weighEvery  = 20 * time.Millisecond
	mostRetry   = time.Minute
)

type unknownClientKey struct{}

// AsUnknownClient returns a context under which a password waits to be hashed among those of
// unknown clients, by the client that an address belongs to. Under any other context it goes
// before all of them.
func AsUnknownClient(ctx context.Context, ip netip.Addr) context.Context {
	return context.WithValue(ctx, unknownClientKey{}, network.Of(ip))
}

func unknownClient(ctx context.Context) (client netip.Prefix, is bool) {
	client, is = ctx.Value(unknownClientKey{}).(netip.Prefix)
	return client, is
}

// ErrBusy is the error of a password that cannot be hashed soon, because too many others wait.
var ErrBusy = fmt.Errorf("passwords: too many passwords wait to be hashed: %w", storage.ErrUnavailable)

var tooManyHashes = &reply.Failure{
	Status: http.StatusServiceUnavailable, Crowd: new(reply.Crowd),
	Msg: "Too many people are signing in at this moment. Wait a few seconds, then try again; nothing is lost.",
}

// queue bounds how many hashes are computed at a time. The others wait for a bounded time. Known
// browsers, and everything that is not a sign-in, go first, in the order they came. Unknown
// clients follow, those first whose networks have tried least lately, so their order can change:
// they wait for their turn, until maxWait is over, or until the queue is full and a client with
// fewer attempts takes their place. A refusal says when to retry.
type queue struct {
	slots int

	mu      sync.Mutex
	running int
	known   list.List // of *waiter
	unknown []*waiter // in the order they came
	history limits.History
	weighed time.Time     // when all unknown clients were last weighed
	typical time.Duration // what a hash takes lately; 0: none has been computed yet
}

// waiter is a password that waits to be hashed.
type waiter struct {
	turn   chan bool       // receives once: true for its turn, false if it has to go
	from   limits.Networks // of an unknown client
	weight int             // of it, when the queue last moved
}

func newQueue(slots int) *queue {
	return &queue{slots: slots, history: limits.History{Half: hashHistory}}
}

// enter waits for a place; leave must follow if there is no error.
func (l *queue) enter(ctx context.Context) error {
	w, leave, err := l.takePlace(ctx)
	if w == nil || err != nil {
		return err
	}
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	select {
	case mine := <-w.turn:
		if mine {
			return nil
		}
	case <-ctx.Done():
		leave()
		return ctx.Err()
	case <-timer.C:
		leave()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refuse(len(l.unknown))
}

// takePlace takes a free slot and returns no waiter, or joins the queue. leave takes the waiter
// out of the queue again.
func (l *queue) takePlace(ctx context.Context) (w *waiter, leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	client, unknown := unknownClient(ctx)
	w = &waiter{turn: make(chan bool, 1)}
	if unknown {
		w.from = l.history.Around(client)
		l.history.Count(w.from, time.Now())
	}
	switch {
	case l.running < l.slots:
		l.running++
		return nil, nil, nil
	case unknown && !l.join(w):
		return nil, nil, l.refuse(len(l.unknown))
	case unknown:
		return w, func() { l.leaveQueue(w, l.removeUnknown) }, nil
	case l.known.Len() >= l.capacity():
		return nil, nil, l.refuse(0)
	}
	e := l.known.PushBack(w)
	return w, func() { l.leaveQueue(w, func(*waiter) { l.known.Remove(e) }) }, nil
}

// leaveQueue removes a waiter; if its turn has come at the same moment, the slot goes to the next.
func (l *queue) leaveQueue(w *waiter, remove func(*waiter)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case mine := <-w.turn:
		if mine {
			l.next()
		}
	default:
		remove(w)
	}
}

func (l *queue) removeUnknown(w *waiter) {
	l.unknown = slices.DeleteFunc(l.unknown, func(other *waiter) bool { return other == w })
}

// capacity returns how many known browsers can wait and be served in time.
func (l *queue) capacity() int {
	if l.typical <= 0 {
		return maxWaiting
	}
	return min(int(maxWait/l.typical*time.Duration(l.slots)), maxWaiting)
}

// join adds an unknown client to the queue. If it is full, the one with the most attempts around
// it has to go, which may be the new one.
func (l *queue) join(w *waiter) bool {
	w.weight = l.history.Weight(w.from)
	if len(l.unknown) >= maxWaiting {
		last := l.last()
		if l.unknown[last].weight <= w.weight {
			return false
		}
		l.unknown[last].turn <- false
		l.unknown = slices.Delete(l.unknown, last, last+1)
	}
	l.unknown = append(l.unknown, w)
	return true
}

// last returns the index of the unknown client that goes last.
func (l *queue) last() (last int) {
	for i, w := range l.unknown {
		if w.weight >= l.unknown[last].weight {
			last = i
		}
	}
	return last
}

// refuse returns ErrBusy with a Retry-After for those that wait, so many unknown clients among them.
func (l *queue) refuse(unknown int) error {
	wait := l.typical * time.Duration(1+l.known.Len()+unknown) / time.Duration(l.slots)
	seconds := math.Ceil(min(max(wait, time.Second), mostRetry).Seconds())
	return tooManyHashes.With("Retry-After", strconv.Itoa(int(seconds))).Because(ErrBusy)
}

// leave frees a slot, and notes how long the hash has taken.
func (l *queue) leave(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.typical == 0 {
		l.typical = took
	}
	l.typical = (7*l.typical + took) / 8
	l.next()
}

// forgive takes back the attempt of an unknown client: the password was right.
func (l *queue) forgive(ctx context.Context) {
	client, unknown := unknownClient(ctx)
	if !unknown {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.history.Forgive(l.history.Around(client))
}

// next gives a slot to the next waiter.
func (l *queue) next() {
	if e := l.known.Front(); e != nil {
		l.known.Remove(e).(*waiter).turn <- true
		return
	}
	if len(l.unknown) == 0 {
		l.running--
		return
	}
	l.weigh(time.Now())
	next := 0
	for i, w := range l.unknown {
		if w.weight < l.unknown[next].weight {
			next = i
		}
	}
	l.unknown[next].turn <- true
	l.unknown = slices.Delete(l.unknown, next, next+1)
}

// weigh counts the attempts that came after the unknown clients had joined.
func (l *queue) weigh(now time.Time) {
	if now.Sub(l.weighed) < weighEvery {
		return
	}
	l.weighed = now
	for _, w := range l.unknown {
		w.weight = l.history.Weight(w.from)
	}
}
