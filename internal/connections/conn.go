package connections

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// conn is a connection whose client is waited for only so long. Deadlines that others set
// on it hold as well; the earlier one counts.
type conn struct {
	net.Conn
	limits *Limits
	from   netip.Addr
	closed atomic.Bool
	silence

	writing sync.Mutex // a Write that goes on is still one

	mu      sync.Mutex
	alarm   alarm
	linger  linger
	writeBy time.Time // what others have set
	in, out byteRate
	queue   int // bytes in the kernel when a write was last looked at, or unknown
	body    body
	limited bool      // body.limited() when it last changed
	since   time.Time // when it began to be
}

const unknown = -1

// Write fails, and the connection is closed, if the client takes too little of it.
func (c *conn) Write(p []byte) (n int, err error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	for {
		began := time.Now()
		c.mu.Lock()
		c.sends()
		if c.out.arm(began) {
			c.Conn.SetWriteDeadline(earliest(c.out.armed, c.writeBy))
		}
		c.mu.Unlock()
		m, err := c.Conn.Write(p[n:])
		n += m
		c.moved(m)
		if !c.wrote(began, m, err) {
			return n, err
		}
	}
}

// wrote handles the result of one attempt to write. It reports whether to continue: a deadline of ours
// has passed, and the client has taken enough.
func (c *conn) wrote(began time.Time, n int, err error) (again bool) {
	now := time.Now()
	c.mu.Lock()
	c.sent(now)
	taken, timedOut := n, errors.Is(err, os.ErrDeadlineExceeded)
	if timedOut {
		taken = c.taken(n)
	} else {
		c.queue = unknown
	}
	c.out.moved(taken, now.Sub(began))
	cut := timedOut && c.out.left <= 0
	again = timedOut && !cut && !passed(c.writeBy, now)
	c.mu.Unlock()
	if cut {
		c.cut(&c.limits.cutAnswer)
	}
	return again
}

// taken returns how many bytes the client has taken while n bytes were written, as far as the kernel
// tells: a large buffer may accept nothing for long although its other end moves.
func (c *conn) taken(n int) int {
	now, ok := queued(c.Conn)
	if !ok {
		return n
	}
	before := c.queue
	c.queue = now
	if before == unknown {
		return n
	}
	return max(n, before+n-now)
}

// SetWriteDeadline is called by net/http after every request, mostly to no effect.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.IsZero() && c.writeBy.IsZero() {
		return nil
	}
	c.writeBy = t
	return c.Conn.SetWriteDeadline(earliest(c.out.armed, t))
}

func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// CloseWrite says that nothing more will come, where a connection can.
func (c *conn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

func (c *conn) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.mu.Lock()
		c.watch.Stop()
		c.stopLingering()
		c.mu.Unlock()
		c.limits.held.give(c.from)
	}
	return c.Conn.Close()
}

// cut closes a connection that has lasted too long.
func (c *conn) cut(count *atomic.Uint64) {
	if c.closed.Load() {
		return
	}
	count.Add(1)
	forgetUnsent(c.Conn)
	c.Close()
}

// silence counts how long nothing has moved, in halves of what is allowed.
type silence struct {
	watch *time.Timer
	busy  atomic.Bool
	// an answer to a request with a body, of which nothing is there: the client waits, and may be silent
	owing  atomic.Bool
	halves int
}

func (s *silence) moved(n int) {
	if n > 0 && !s.busy.Load() { // a load leaves the line where it is
		s.busy.Store(true)
	}
}

// owe notes whether the client waits for the service.
func (s *silence) owe(is bool) {
	if s.owing.Load() != is {
		s.owing.Store(is)
		s.busy.Store(true) // silence begins now
	}
}

// checkIdle is called by the watch timer, twice in Config.StreamIdle.
func (c *conn) checkIdle() {
	if c.halves++; c.busy.Swap(false) || c.owing.Load() {
		c.halves = 0
	}
	if c.halves >= 2 {
		c.cut(&c.limits.cutSilences)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed.Load() {
		c.watch.Reset(c.limits.c.StreamIdle / 2)
	}
}
