package connections

import (
	"sync"
	"time"
)

// tick says how often waits are looked at. One that has lasted for a whole tick goes on in the kernel.
const tick = 10 * time.Millisecond

// linger holds the beginning of net/http's wait for the client to leave, which it starts in each request
// and ends by a deadline that is over. In the kernel that would be a read in vain, a timer removed and a
// timer set again. Most handlers answer within a tick or two, so until then the wait is a mere variable.
type linger struct {
	ended    sync.Cond // of conn.mu
	waits    bool
	listed   bool   // lingerQueue has the connection
	count    uint64 // of waits so far
	seen     uint64 // the wait that the last tick saw
	hijacked bool   // a Read of one byte is no longer net/http's
}

// lingerUntilCalled returns when the wait is over, or has lasted.
func (c *conn) lingerUntilCalled() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.linger.hijacked || c.alarm.ended || c.closed.Load() {
		return
	}
	c.linger.count++
	c.linger.waits = true
	if !c.linger.listed {
		c.linger.listed = true
		c.limits.lingerQueue.add(c)
	}
	for c.linger.waits {
		c.linger.ended.Wait()
	}
}

// stopLingering is called with conn.mu locked.
func (c *conn) stopLingering() {
	if c.linger.waits {
		c.linger.waits = false
		c.linger.ended.Signal()
	}
}

// tick sends a wait that the last tick has seen to the kernel, and reports whether to look again.
func (c *conn) tick() (again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &c.linger
	if l.count == l.seen {
		l.listed = false
		c.stopLingering()
		return false
	}
	l.seen = l.count
	return true
}

// lingerQueue holds the connections that have waited since the last tick but one. Its timer runs only
// while there are some.
type lingerQueue struct {
	mu      sync.Mutex
	conns   []*conn
	ticking bool
}

func (l *lingerQueue) add(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(l.conns, c)
	if !l.ticking {
		l.ticking = true
		time.AfterFunc(tick, l.tick)
	}
}

func (l *lingerQueue) tick() {
	l.mu.Lock()
	conns := l.conns
	l.conns = nil
	l.mu.Unlock()
	kept := conns[:0]
	for _, c := range conns {
		if c.tick() {
			kept = append(kept, c)
		}
	}
	clear(conns[len(kept):]) // a connection that is closed is not held
	l.mu.Lock()
	defer l.mu.Unlock()
	l.conns = append(kept, l.conns...)
	if l.ticking = len(l.conns) > 0; l.ticking {
		time.AfterFunc(tick, l.tick)
	}
}
