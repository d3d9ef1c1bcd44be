package window

import (
	"slices"
	"sync"
	"sync/atomic"
)

// overflow is the one window that keys share while the table has no room for them. It
// remembers whose each event is: a key that finds room later takes its events along, or
// it would get its limit twice.
//
// Its lock is taken while that of a shard is held, never the other way round.
type overflow struct {
	mu     sync.Mutex
	strays []stray // oldest first

	// Written under mu; n after latest.
	latest atomic.Int64 // never goes back; who leaves for a shard takes it along
	n      atomic.Int64 // len(strays)
}

type stray struct {
	id    id
	event event
}

// allow answers a request as of now or later. seq is of the key's shard, because the event
// may end up there.
func (o *overflow) allow(r request, now int64, seq *uint32) Verdict {
	o.mu.Lock()
	defer o.mu.Unlock()
	now = o.trim(now, r.window)
	n := len(o.strays)
	if n >= r.limit {
		return r.refused(o.strays[n-r.limit].event)
	}
	*seq++
	e := event{now, *seq}
	o.strays = append(o.strays, stray{r.id, e})
	o.n.Store(int64(n + 1))
	return r.admitted(e, n+1, o.strays[0].event)
}

// surrender removes and returns the live events of a key that has now a window of its
// own, and says at what time, now or later.
func (o *overflow) surrender(r request, now int64) (own []event, at int64) {
	if o.n.Load() == 0 {
		return nil, max(now, o.latest.Load())
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	now = o.trim(now, r.window)
	o.remove(func(s stray) bool {
		if s.id == r.id {
			own = append(own, s.event)
		}
		return s.id == r.id
	})
	return own, now
}

// drop removes one event, if it is there.
func (o *overflow) drop(r Receipt) {
	if o.n.Load() == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.remove(func(s stray) bool { return s == stray(r) })
}

func (o *overflow) remove(gone func(stray) bool) {
	o.strays = slices.DeleteFunc(o.strays, gone)
	o.n.Store(int64(len(o.strays)))
}

// trim moves the time forward and drops the events that have left the window. The array
// in front of the rest goes when append next moves it.
func (o *overflow) trim(now, window int64) int64 {
	now = max(now, o.latest.Load())
	o.latest.Store(now)
	live := 0
	for live < len(o.strays) && o.strays[live].event.at <= now-window {
		live++
	}
	o.strays = o.strays[live:]
	o.n.Store(int64(len(o.strays)))
	return now
}
