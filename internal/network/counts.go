package network

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// Counts admits a number of events in any window of time by network. It is for clients that
// a table is too small for, and takes no memory until there is one. It is safe for concurrent
// use and runs no goroutine.
type Counts struct {
	width      int64  // of a bucket, in nanoseconds
	capacities [3]int // of levels

	mu     sync.Mutex
	epoch  time.Time
	seed   maphash.Seed
	levels [3]level // of narrow networks, of wider ones, of the widest
	latest int64    // time only moves forward here
}

// minCapacity keeps a table from being so small that chance decides.
const minCapacity = 1024

// NewCounts makes Counts for a window of at most a day, with capacity for about so many of the
// widest networks and an eighth as many of each other kind. One takes 56 bytes.
func NewCounts(window time.Duration, capacity int) *Counts {
	return NewCountsOf(window, capacity/8, capacity/8, capacity)
}

// NewCountsOf is NewCounts with capacity for so many of the networks right around a client, of
// those around these, and of the widest. Room that is never used takes no memory.
func NewCountsOf(window time.Duration, narrow, wider, widest int) *Counts {
	c := &Counts{width: (int64(window) + buckets - 2) / (buckets - 1), capacities: [3]int{narrow, wider, widest}}
	for i := range c.capacities {
		c.capacities[i] = max(c.capacities[i], minCapacity)
	}
	return c
}

// Answer holds the decision about an event.
type Answer struct {
	OK        bool
	Remaining int // how many more events are admitted
	// until more events are admitted, if nothing else happens; if not OK, until a retry is admitted
	Reset   time.Duration
	Receipt Receipt // takes the event back
}

// Receipt names the count that one event went to. The zero Receipt names none.
type Receipt struct {
	Level  int
	ID     uint64
	Bucket int64
}

// mostLimit keeps every limit of a network within an int32.
const mostLimit = 1 << 24

// Take counts one event of a client, of which limit are admitted to a single client, against
// the first of the networks around it that is known or can be added. Events of different kinds
// have their own counts. A client in no network has a count of its own.
func (c *Counts) Take(client netip.Prefix, kind string, limit int, at time.Time) Answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := c.enter(at)
	p, now := c.find(client, kind), c.latest/c.width
	limit = min(limit, mostLimit) * p.factor
	if p.window != nil && int(p.window.total) >= limit {
		return Answer{Reset: c.until(p.window.leaves(limit), asked)}
	}
	w := p.claim(now)
	w.add(now)
	return Answer{
		OK: true, Remaining: limit - int(w.total), Reset: c.until(w.oldest(), asked),
		Receipt: Receipt{p.level, p.id, now},
	}
}

// Wait returns how long to wait until Take admits an event, 0 if it would now. It counts nothing.
func (c *Counts) Wait(client netip.Prefix, kind string, limit int, at time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := c.enter(at)
	p := c.find(client, kind)
	limit = min(limit, mostLimit) * p.factor
	if p.window == nil || int(p.window.total) < limit {
		return 0
	}
	return c.until(p.window.leaves(limit), asked)
}

// Return takes an event back. A receipt must be given once, since all events of a network are
// one number; one whose event has left, or whose network was evicted, has no effect.
func (c *Counts) Return(r Receipt) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r.ID == 0 || c.levels[r.Level].sets == nil {
		return
	}
	if w, _, _ := c.levels[r.Level].look(r.ID, c.latest/c.width); w != nil {
		w.drop(r.Bucket)
	}
}

// farthest bounds the distance of a time from the first event, 73 years: see until.
const farthest = 1 << 61

// enter moves the time forward and returns the one that was asked at: 0 is farthest before the
// first event.
func (c *Counts) enter(at time.Time) (asked int64) {
	if c.epoch.IsZero() {
		c.epoch, c.seed = at, maphash.MakeSeed()
	}
	asked = farthest + min(max(int64(at.Sub(c.epoch)), -farthest), farthest)
	c.latest = max(c.latest, asked)
	return asked
}

// until says how long after a time the events of a bucket leave.
func (c *Counts) until(bucket, asked int64) time.Duration {
	return time.Duration((bucket+buckets)*c.width - asked)
}

// place locates the counter of an event. If window is nil, it has none yet.
type place struct {
	level, factor    int
	id               uint64
	window, capacity *window
}

// claim returns the window, and makes it in the free slot if there is none.
func (p place) claim(now int64) *window {
	if p.window != nil {
		return p.window
	}
	*p.capacity = window{id: p.id, bucket: now}
	return p.capacity
}

// find walks up the ladder to the first network that is known or can be added. The widest always
// finds some.
func (c *Counts) find(client netip.Prefix, kind string) place {
	now := c.latest / c.width
	wider, factor, more := Widen(client)
	if !more {
		wider, factor = client, 1
	}
	for i := 0; ; i++ {
		beyond, next, more := Widen(wider)
		p := place{level: min(i, len(c.levels)-2), factor: factor, id: c.identify(wider, kind)}
		if !more {
			p.level = len(c.levels) - 1
		}
		free, least := (*window)(nil), (*window)(nil)
		p.window, free, least = c.open(p.level).look(p.id, now)
		switch {
		case p.window != nil:
			return p
		case free != nil:
			p.capacity = free
			return p
		case !more:
			p.capacity = least
			return p
		}
		wider, factor = beyond, next
	}
}

// open returns a level, with its memory.
func (c *Counts) open(i int) *level {
	l := &c.levels[i]
	if l.sets == nil {
		l.sets = make([][ways]window, (c.capacities[i]+ways-1)/ways)
	}
	return l
}

// identify hashes with a seed that nobody outside knows, so that nobody aims at another's set.
func (c *Counts) identify(p netip.Prefix, kind string) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	a := p.Addr().As16()
	h.Write(a[:])
	h.WriteByte(byte(p.Bits()))
	h.WriteString(kind)
	return h.Sum64() | 1
}
