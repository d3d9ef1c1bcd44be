package connections

import "sync"

// linger holds the beginning of net/http's wait for the client to leave, which it starts in each request
// and ends by a deadline that is over. In the kernel that would be a read in vain, a timer removed and a
// timer set again. Most handlers answer within a tick or two (package ticks), so until then the wait is a
// mere variable.
type linger struct {
	ended    sync.Cond // of conn.mu
	waits    bool
	listed   bool   // Limits.lingering has the connection
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
		c.limits.lingering.Add(c)
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

// Tick sends a wait that the last tick has seen to the kernel, and reports whether to look again.
func (c *conn) Tick() (again bool) {
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
