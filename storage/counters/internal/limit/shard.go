package limit

import (
	"sync"
	"time"
)

// shard is the part of the keys that one lock guards.
type shard struct {
	mu sync.Mutex
	table
	latest int64    // the time of the shard
	seq    uint32   // of its last event
	_      [16]byte // a shard fills two cache lines, so that neighbours do not share one
}

// request is one call of Allow.
type request struct {
	id     id
	limit  int // 1 or more
	at     int64
	window int64
}

// allow answers a request; full reports that the key found no place in the table.
func (s *shard) allow(r request, keys *ledger) (_ Verdict, full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.forward(r.at)
	p := s.find(r.id)
	if p == nil {
		p = s.enter(r.id, now-r.window, keys)
		if p == nil {
			return Verdict{}, true
		}
	}
	s.trim(p, now-r.window)
	n := s.count(p)
	if n >= r.limit {
		return r.refused(s.nth(p, n-r.limit)), false
	}
	s.seq++
	e := event{now, s.seq}
	s.add(p, e, r.limit)
	return r.admitted(e, n+1, s.nth(p, 0)), false
}

// wait says how long a request would be refused; full reports that its key has no window and
// finds no place for one.
func (s *shard) wait(r request, keys *ledger) (_ time.Duration, full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.forward(r.at)
	p := s.find(r.id)
	if p == nil {
		keys.release(s.sweep(now - r.window))
		return 0, keys.full()
	}
	s.trim(p, now-r.window)
	if n := s.count(p); n >= r.limit {
		return r.until(s.nth(p, n-r.limit)), false
	}
	return 0, false
}

// forward moves the shard's time, which never goes back: callers read the time before
// they get the lock, and only events in order make the counts exact.
func (s *shard) forward(at int64) int64 {
	s.latest = max(s.latest, at)
	return s.latest
}

// enter finds a place for a new key, nil if there is none. Each key that enters pays for
// looking at a few others, so that expired ones leave as fast as new ones come.
func (s *shard) enter(k id, horizon int64, keys *ledger) *slot {
	keys.release(s.sweep(horizon))
	if !keys.reserve() {
		return nil
	}
	if s.misfit() {
		keys.release(s.rebuild(horizon))
	}
	return s.put(k)
}

// cancel removes an event, if it is still there.
func (s *shard) cancel(r Receipt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.find(r.id); p != nil {
		s.drop(p, r.event)
	}
}

// admitted is the verdict on a request that is the n-th in its window.
func (r request) admitted(e event, n int, oldest event) Verdict {
	return Verdict{
		OK: true, Limit: r.limit, Remaining: r.limit - n, Reset: r.until(oldest),
		Receipt: Receipt{r.id, e},
	}
}

// refused returns the verdict on a request that is admitted once an event has expired.
func (r request) refused(leaves event) Verdict {
	wait := r.until(leaves)
	return Verdict{Limit: r.limit, Reset: wait, RetryAfter: wait}
}

// until says how long after the time the caller brought an event leaves the window.
func (r request) until(e event) time.Duration { return time.Duration(e.at + r.window - r.at) }
