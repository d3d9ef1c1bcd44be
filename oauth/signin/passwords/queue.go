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
	hashHistory = 5 * time.Minute // for which a stranger's password counts at least; twice as long at most
	weighEvery  = 20 * time.Millisecond
	mostRetry   = time.Minute
)

type unknownClientKey struct{}

// AsUnknownClient returns a context under which a password waits to be hashed among strangers, by the
// client that an address belongs to. Under any other, it goes before all of them.
func AsUnknownClient(ctx context.Context, ip netip.Addr) context.Context {
	return context.WithValue(ctx, unknownClientKey{}, network.Of(ip))
}

func unknownClient(ctx context.Context) (client netip.Prefix, is bool) {
	client, is = ctx.Value(unknownClientKey{}).(netip.Prefix)
	return client, is
}

// ErrBusy says that more passwords wait than can be hashed soon.
var ErrBusy = fmt.Errorf("passwords: too many passwords wait to be hashed: %w", storage.ErrUnavailable)

var tooManyHashes = &reply.Failure{
	Status: http.StatusServiceUnavailable, Crowd: new(reply.Crowd),
	Msg: "Too many people are signing in at this moment. Wait a few seconds, then try again; nothing is lost.",
}

// queue lets so many hashes be computed at a time. The others wait for a bounded time. Known
// browsers, and whatever is not a sign-in, go first, in the order they came. Strangers follow,
// those first whose networks have asked for least lately, so that it is not known when somebody's
// turn comes: they wait until it does, or until their patience is over, or one comes who goes
// before them and finds the line full. Who is refused is told when to come back.
type queue struct {
	slots int

	mu      sync.Mutex
	running int
	known   list.List // of *waiter
	unknown []*waiter // in the order they came
	history limits.History
	weighed time.Time     // when the strangers were, all of them
	typical time.Duration // what a hash takes lately; 0: none has been computed yet
}

// waiter is a password that waits to be hashed.
type waiter struct {
	turn   chan bool       // told once: whether it is their turn; else they have to go
	from   limits.Networks // of a stranger
	weight int             // of it, when the line last moved
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

// takePlace takes a place, and there is nobody to wait for, or stands in a line. leave is for who
// does not wait any longer.
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

// leaveQueue takes somebody out of a line; if their turn has come at the same moment, the place
// goes to the next.
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

// capacity returns how many can wait in the first line and be done in time.
func (l *queue) capacity() int {
	if l.typical <= 0 {
		return maxWaiting
	}
	return min(int(maxWait/l.typical*time.Duration(l.slots)), maxWaiting)
}

// join puts a stranger into the line. If it is full, the one who has most before them has to go,
// or is not let in.
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

// last returns the stranger who goes last.
func (l *queue) last() (last int) {
	for i, w := range l.unknown {
		if w.weight >= l.unknown[last].weight {
			last = i
		}
	}
	return last
}

// refuse says that those who wait, and so many strangers among them, are to be done first.
func (l *queue) refuse(unknown int) error {
	wait := l.typical * time.Duration(1+l.known.Len()+unknown) / time.Duration(l.slots)
	seconds := math.Ceil(min(max(wait, time.Second), mostRetry).Seconds())
	return tooManyHashes.With("Retry-After", strconv.Itoa(int(seconds))).Because(ErrBusy)
}

// leave gives a place back in which a hash has taken so long.
func (l *queue) leave(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.typical == 0 {
		l.typical = took
	}
	l.typical = (7*l.typical + took) / 8
	l.next()
}

// forgive takes back what a stranger's attempt counts: the password was right.
func (l *queue) forgive(ctx context.Context) {
	client, unknown := unknownClient(ctx)
	if !unknown {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.history.Forgive(l.history.Around(client))
}

// next hands a place on.
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

// weigh has what came since the strangers joined count against them.
func (l *queue) weigh(now time.Time) {
	if now.Sub(l.weighed) < weighEvery {
		return
	}
	l.weighed = now
	for _, w := range l.unknown {
		w.weight = l.history.Weight(w.from)
	}
}

func (l *queue) waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known.Len() + len(l.unknown)
}
