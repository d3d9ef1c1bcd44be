package connections

import (
	"time"
)

// body holds the state of the body of the current request. net/http reads
// it in three places: for the handler, before the answer's header goes out, and when the
// handler has returned. It must not take long in any of them. In between, once the body is
// over or the answer has begun, net/http waits in a Read for the client to go away, and
// that may last.
type body struct {
	open     bool      // there is one, and its end was not seen
	reading  bool      // the handler reads
	answered bool      // the answer's header went out
	returned bool      // the handler has
	sending  bool      // and what it left behind goes out
	restBy   time.Time // when the rest of a body that nobody wants must be here
	late     bool      // it was cut
}

func (b *body) limited() bool {
	return b.open && !b.sending && (!b.answered || b.reading || b.returned)
}

// changeBody changes what is known of the body, and sees to it that a Read learns of it.
func (c *conn) changeBody(change func(*body)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.body)
	c.bodyChanged()
}

func (c *conn) bodyChanged() {
	is := c.body.limited()
	if is && !c.limited {
		c.since = time.Now()
	}
	c.limited = is
	if is && !c.body.restBy.IsZero() { // a Read may be under way
		c.wakeBy(c.body.restBy)
	}
}

// beginBody begins the wait for a body.
func (c *conn) beginBody() {
	l := c.limits.c
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in = byteRate{left: l.Grace, grace: l.Grace, rate: l.BodyRate}
	c.body = body{open: true}
	c.bodyChanged()
}

// answering notes that the handler answers: what is left of the body has to come soon.
func (c *conn) answering() {
	c.changeBody(func(b *body) {
		if !b.answered {
			c.restFrom(time.Now())
		}
	})
}

// handlerReturned notes that what is read of the body from here on is thrown away.
func (c *conn) handlerReturned() {
	c.changeBody(func(b *body) {
		b.returned, b.reading = true, false
		c.restFrom(time.Now())
	})
}

// restFrom gives the rest of a body its time, unless it has had it.
func (c *conn) restFrom(now time.Time) {
	if !c.body.late {
		c.body.restBy = now.Add(c.limits.c.Rest)
	}
}

// sends notes that something goes out. Where that is the answer, net/http has read the body
// by now, or has given it up, unless the handler goes on reading it. After the handler, it
// may wait for the client to leave meanwhile.
func (c *conn) sends() {
	b := &c.body
	switch {
	case !b.open:
		return
	case b.returned:
		b.sending = true
	case b.answered || b.restBy.IsZero():
		return
	default:
		b.answered = true
	}
	c.bodyChanged()
}

// sent ends what sends began.
func (c *conn) sent(now time.Time) {
	if c.body.sending {
		c.body.sending = false
		c.restFrom(now)
		c.bodyChanged()
	}
}

// requestOver forgets a request. No other follows if the handler has taken the connection.
func (c *conn) requestOver(hijacked bool) {
	c.owe(false)
	c.changeBody(func(b *body) {
		*b = body{}
		c.linger.hijacked = hijacked
	})
}
