package connections

import (
	"errors"
	"os"
	"time"
)

// body is what a connection knows of the body of the request that is served. net/http reads
// it in three places: for the handler, before the answer's header goes out, and when the
// handler has returned. It must not take long in any of them. In between, once the body is
// over or the answer has begun, net/http waits in a Read for the client to go away, and
// that may last.
type body struct {
	open     bool      // there is one, and its end was not seen
	reading  bool      // the handler reads
	answered bool      // the answer's header went out
	returned bool      // the handler has
	restBy   time.Time // when the rest of a body that nobody wants must be here
	late     bool      // it was cut
}

func (b *body) limited() bool { return b.open && (!b.answered || b.reading || b.returned) }

// changeBody changes what is known of the body, and the deadline with it.
func (c *conn) changeBody(change func(*body)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.body)
	c.bodyChanged()
}

func (c *conn) bodyChanged() {
	is := c.body.limited()
	if c.limited.Load() != is {
		c.limited.Store(is)
	}
	if !is && c.set || is && !c.body.restBy.IsZero() {
		c.applyRead()
	}
}

// applyRead sets the deadline of reading.
func (c *conn) applyRead() error {
	by := c.readBy
	if c.set = c.body.limited(); c.set {
		by = earliest(by, earliest(c.in.armed, c.body.restBy))
	}
	return c.Conn.SetReadDeadline(by)
}

// beginBody begins the wait for a body.
func (c *conn) beginBody() {
	l := c.limits.c
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in = pace{left: l.Grace, grace: l.Grace, rate: l.BodyRate}
	c.body = body{open: true}
	c.bodyChanged()
}

// answering notes that the handler answers: what is left of the body has to come soon.
func (c *conn) answering() {
	c.changeBody(func(b *body) { b.rest(c.limits.c.Rest) })
}

// handlerReturned notes that what is read of the body from here on is thrown away.
func (c *conn) handlerReturned() {
	c.changeBody(func(b *body) {
		b.returned, b.reading = true, false
		b.rest(c.limits.c.Rest)
	})
}

func (b *body) rest(within time.Duration) {
	if b.open && b.restBy.IsZero() {
		b.restBy = time.Now().Add(within)
	}
}

// answered notes that the answer has begun to go out: net/http has read the body by now, or
// has given it up, unless the handler goes on reading it.
func (c *conn) answered() {
	b := &c.body
	if !b.open || b.restBy.IsZero() || b.answered || b.returned {
		return
	}
	b.answered = true
	c.bodyChanged()
}

// requestOver forgets a request.
func (c *conn) requestOver() {
	c.changeBody(func(b *body) { *b = body{} })
}

// readBody reads while a body is waited for.
func (c *conn) readBody(p []byte) (int, error) {
	for {
		began := time.Now()
		c.mu.Lock()
		if c.body.limited() && (c.in.arm(began) || !c.set) {
			c.applyRead()
		}
		c.mu.Unlock()
		n, err := c.Conn.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			c.mu.Lock()
			c.in.moved(n, time.Since(began))
			c.mu.Unlock()
			return n, err
		}
		if !c.waitOn(began) {
			return n, err
		}
	}
}

// waitOn judges a deadline that has passed without a byte.
func (c *conn) waitOn(began time.Time) bool {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.body.limited() { // nobody waits for a body any more, but for the client to leave
		return !passed(c.readBy, now)
	}
	c.in.moved(0, now.Sub(began))
	late := c.in.left <= 0 || passed(c.body.restBy, now)
	if late && !c.body.late {
		c.body.late = true
		c.limits.cutBody.Add(1)
	}
	return !late && !passed(c.readBy, now)
}
