package streams

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	every = time.Second     // between two looks at all streams
	young = 3 * time.Second // for so long no request is looked at
	grace = 2 * time.Second // between the end of a context and that of the connection
)

// Why a stream is ended, beside what Config.Look says.
var (
	ErrExpired = errors.New("the token has expired")
	ErrLife    = errors.New("its time is over")
	ErrUnpaid  = errors.New("it cannot be charged")
)

// Config holds what New needs.
type Config struct {
	Life time.Duration // the longest of a stream

	// Look begins a look at all streams. The function that it returns says why the stream of a token is to end;
	// nil: it is not, or that cannot be found out now.
	Look func(ctx context.Context) func(Token) error

	Go    func(func(ctx context.Context)) // runs the looks, until ctx ends
	Ended func(why map[string]int)        // is told how many streams a look has ended, by the error
}

// Watcher ends streams. Make it with New.
type Watcher struct {
	c       Config
	running atomic.Bool
	shards  [32]shard
}

// shard is one of several lists, so that requests do not wait for each other.
type shard struct {
	mu    sync.Mutex
	first *Stream
	_     [48]byte // apart from the next one in a cache
}

// New makes a Watcher.
func New(c Config) *Watcher { return &Watcher{c: c} }

// Watch begins to watch a request. Leave ends it.
func (w *Watcher) Watch(s *Stream, parent context.Context, out http.ResponseWriter, r Request) {
	s.life.Context, s.w, s.request = parent, out, r
	s.shard = &w.shards[rand.Uint32()%uint32(len(w.shards))]
	s.shard.add(s)
	if !w.running.Load() && w.running.CompareAndSwap(false, true) {
		w.c.Go(w.run)
	}
}

func (l *shard) add(s *Stream) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.listed, s.after = true, l.first
	if l.first != nil {
		l.first.before = s
	}
	l.first = s
}

// remove takes a stream off the list, once.
func (l *shard) remove(s *Stream) {
	switch {
	case !s.listed:
		return
	case s.before != nil:
		s.before.after = s.after
	default:
		l.first = s.after
	}
	if s.after != nil {
		s.after.before = s.before
	}
	s.listed, s.before, s.after = false, nil, nil
	if s.rest != nil {
		s.rest.charge = nil
	}
}

// run looks at all streams until there is none.
func (w *Watcher) run(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if w.pass(ctx, time.Now()) {
			continue
		}
		w.running.Store(false)
		if w.empty() || !w.running.CompareAndSwap(false, true) {
			return
		}
	}
}

func (w *Watcher) empty() bool {
	for i := range w.shards {
		l := &w.shards[i]
		l.mu.Lock()
		first := l.first
		l.mu.Unlock()
		if first != nil {
			return false
		}
	}
	return true
}

// pass looks at all streams once. It reports whether there are any.
func (w *Watcher) pass(ctx context.Context, now time.Time) (any bool) {
	old := w.old(now)
	if len(old) == 0 {
		return !w.empty()
	}
	why := map[string]int{}
	look := w.c.Look(ctx)
	for _, s := range old {
		if err := w.judge(s, look, now); err != nil && s.end(now) {
			why[err.Error()]++
		}
	}
	if len(why) > 0 {
		w.c.Ended(why)
	}
	return true
}

// old returns the streams that are looked at.
func (w *Watcher) old(now time.Time) (all []*Stream) {
	for i := range w.shards {
		l := &w.shards[i]
		l.mu.Lock()
		for s := l.first; s != nil; s = s.after {
			if now.Sub(s.request.Began()) >= young {
				all = append(all, s)
			}
		}
		l.mu.Unlock()
	}
	return all
}

// judge returns why a stream is to end, nil if it is not.
func (w *Watcher) judge(s *Stream, look func(Token) error, now time.Time) error {
	t := s.request.Token()
	switch {
	case s.Ended():
		return ErrExpired // which it is not asked for again
	case !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt):
		return ErrExpired
	case now.Sub(s.request.Began()) >= w.c.Life:
		return ErrLife
	}
	if charge := s.due(now); charge != nil {
		if charge() != nil {
			return ErrUnpaid
		}
		s.late.Store(true)
	}
	return look(t)
}
