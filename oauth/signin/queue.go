package signin

import (
	"container/list"
	"context"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/keystile/keystile/storage"
)

// rank says who goes first where passwords wait to be hashed: the lower one, so that a flood of
// guesses does not hold up those who are not part of it.
type rank int

const (
	rankFirst rank = iota // known browsers, and whatever is not a sign-in
	rankLater             // addresses that have not failed lately
	rankLast              // addresses that have
	ranks
)

const (
	hashPatience = 3 * time.Second // for which a password waits to be hashed
	hashLine     = 1024            // passwords of one rank that wait; each is a request with all it holds
	mostRetry    = time.Minute
)

type rankKey struct{}

// ranked has what is hashed under a context wait in the line of a rank; without it, it is the first.
func ranked(ctx context.Context, r rank) context.Context { return context.WithValue(ctx, rankKey{}, r) }

func rankOf(ctx context.Context) rank {
	r, _ := ctx.Value(rankKey{}).(rank)
	return r
}

// errBusy: more passwords wait than can be hashed soon.
var errBusy = fmt.Errorf("signin: too many passwords wait to be hashed: %w", storage.ErrUnavailable)

// line lets so many hashes be computed at a time. The others wait in the line of their rank,
// for a bounded time: who would wait longer is refused at once, and told when to come back.
type line struct {
	places int

	mu      sync.Mutex
	running int
	lines   [ranks]list.List // of chan struct{}, closed when it is their turn
	typical time.Duration    // what a hash takes lately; 0: none has been computed yet
}

// enter waits for a place; leave must follow if there is no error.
func (l *line) enter(ctx context.Context) error {
	turn, leave, err := l.queue(rankOf(ctx))
	if turn == nil || err != nil {
		return err
	}
	patience := time.NewTimer(hashPatience)
	defer patience.Stop()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
		leave()
		return ctx.Err()
	case <-patience.C:
		leave()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refuse(l.waits(rankOf(ctx)))
}

// queue takes a place, which is no turn to wait for, or stands in the line. leave is for who does
// not wait any longer.
func (l *line) queue(r rank) (turn chan struct{}, leave func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running < l.places {
		l.running++
		return nil, nil, nil
	}
	if wait := l.waits(r); wait > hashPatience || l.lines[r].Len() >= hashLine {
		return nil, nil, l.refuse(wait)
	}
	turn = make(chan struct{})
	e := l.lines[r].PushBack(turn)
	return turn, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		select {
		case <-turn: // at the same moment: the place goes to the next
			l.next()
		default:
			l.lines[r].Remove(e)
		}
	}, nil
}

// waits is about how long somebody of a rank would wait for a place.
func (l *line) waits(r rank) time.Duration {
	ahead := 1
	for i := range r + 1 {
		ahead += l.lines[i].Len()
	}
	return l.typical * time.Duration(ahead) / time.Duration(l.places)
}

// refuse says that those who wait are to be done first.
func (l *line) refuse(wait time.Duration) error {
	seconds := math.Ceil(min(max(wait, time.Second), mostRetry).Seconds())
	return tooManyHashes.With("Retry-After", strconv.Itoa(int(seconds))).Because(errBusy)
}

// leave gives a place back in which a hash has taken so long.
func (l *line) leave(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.typical == 0 {
		l.typical = took
	}
	l.typical = (7*l.typical + took) / 8
	l.next()
}

// next hands a place on.
func (l *line) next() {
	for i := range l.lines {
		if e := l.lines[i].Front(); e != nil {
			close(l.lines[i].Remove(e).(chan struct{}))
			return
		}
	}
	l.running--
}

func (l *line) waiting() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.lines {
		n += l.lines[i].Len()
	}
	return n
}
