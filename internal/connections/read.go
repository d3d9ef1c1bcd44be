package connections

import (
	"errors"
	"os"
	"time"
)

// alarm ends a Read. net/http sets a deadline six times for each request, nearly always to a
// later one than the last or to none, and each takes a lock and a timer: so the connection
// below has one of its own, which is moved only to be earlier. A Read that it ends looks what
// is really to be waited for, and goes on if that is not over.
type alarm struct {
	at     time.Time // the deadline of the connection below; zero: none
	ended  bool      // every Read ends at once
	readBy time.Time // what others have set
	below  int       // Reads of the connection below that are under way
}

// Read reads what has come. While a body is waited for, it fails once that took too long.
func (c *conn) Read(p []byte) (n int, err error) {
	if len(p) == 1 {
		c.lingerUntilCalled()
	}
	for again := true; again; {
		began, ended := c.beginRead()
		if ended {
			return 0, os.ErrDeadlineExceeded
		}
		n, err = c.Conn.Read(p)
		again = c.readAgain(began, n, err)
	}
	c.moved(n)
	return n, err
}

// beginRead returns when a Read for a body began, the zero time for any other; or that there is
// to be none.
func (c *conn) beginRead() (began time.Time, ended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.alarm.ended {
		return began, true
	}
	c.alarm.below++
	if c.body.limited() {
		began = time.Now()
		c.wakeBy(c.waitUntil(began))
	}
	return began, false
}

// readAgain handles the result of one attempt to read. It reports whether to continue: it was woken
// before its time.
func (c *conn) readAgain(began time.Time, n int, err error) bool {
	woken := err != nil && errors.Is(err, os.ErrDeadlineExceeded)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.alarm.below--
	if began.IsZero() && !woken {
		return false
	}
	now := time.Now()
	if !began.IsZero() || c.body.limited() {
		c.in.moved(n, now.Sub(latest(began, c.since)))
	}
	if !woken || n > 0 || c.deadlinePassed(now) {
		return false
	}
	c.alarm.at = c.waitUntil(now)
	return c.Conn.SetReadDeadline(c.alarm.at) == nil
}

// deadlinePassed reports whether a Read that was woken is over.
func (c *conn) deadlinePassed(now time.Time) bool {
	if c.body.limited() && (c.in.left <= 0 || passed(c.body.restBy, now)) {
		if !c.body.late {
			c.body.late = true
			c.limits.cutBody.Add(1)
		}
		return true
	}
	return passed(c.alarm.readBy, now) // nobody waits for a body any more, but for the client to leave
}

// waitUntil returns when a Read that starts now must end; zero: never.
func (c *conn) waitUntil(now time.Time) time.Time {
	by := c.alarm.readBy
	if c.body.limited() {
		by = earliest(by, earliest(now.Add(c.in.left), c.body.restBy))
	}
	return by
}

// wakeBy sees to it that a Read is woken by then, if not before.
func (c *conn) wakeBy(t time.Time) error {
	if t.IsZero() || !c.alarm.at.IsZero() && !t.Before(c.alarm.at) {
		return nil
	}
	c.alarm.at = t
	return c.Conn.SetReadDeadline(t)
}

// SetReadDeadline is obeyed by the reader. net/http also ends its wait for the client to leave by a
// time that is over, and takes that back.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := &c.alarm
	a.readBy = t
	if !t.IsZero() && (a.at.IsZero() || !t.After(a.at)) && passed(t, time.Now()) {
		a.ended = true
		c.stopLingering()
		if a.below == 0 {
			return nil
		}
	} else {
		a.ended = false
	}
	return c.wakeBy(t)
}
