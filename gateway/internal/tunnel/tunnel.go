// Package tunnel ties two connections together once a protocol was switched: bytes that
// came early are not lost, what is sent is counted, and no end outlives the other by long.
//
// # Choices
//
// When one side has closed its writing end, the other learns of it and may still answer,
// for a while: closing at once would throw away what is on its way, a farewell above all.
// A side that breaks off ends both at once.
package tunnel

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Tunnel is a conversation over two connections. It copies nothing itself: it hands out
// the ends, and the copier calls CloseWrite on an end when the other has said its last.
// Closing an end closes both.
type Tunnel struct {
	linger time.Duration
	sent   atomic.Int64

	mu     sync.Mutex
	closed bool
	ends   []io.Closer
	timer  *time.Timer
}

// New makes a Tunnel in which a side may go on for linger after the other's last word.
func New(linger time.Duration) *Tunnel { return &Tunnel{linger: linger} }

// Client is the client's end. Early are the bytes that were read before the switch; they
// are read first.
func (t *Tunnel) Client(c net.Conn, early *bufio.Reader) net.Conn {
	t.add(c)
	head, _ := early.Peek(early.Buffered())
	return &client{Conn: c, tunnel: t, early: head}
}

// Upstream is the service's end.
func (t *Tunnel) Upstream(c io.ReadWriteCloser) io.ReadWriteCloser {
	t.add(c)
	return &upstream{c, t}
}

// Sent returns how many bytes went to the client.
func (t *Tunnel) Sent() int64 { return t.sent.Load() }

// Close closes both ends, and whatever is added later.
func (t *Tunnel) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.timer != nil {
		t.timer.Stop()
	}
	var errs []error
	for _, c := range t.ends {
		errs = append(errs, c.Close())
	}
	t.ends = nil
	return errors.Join(errs...)
}

func (t *Tunnel) add(c io.Closer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		c.Close()
		return
	}
	t.ends = append(t.ends, c)
}

var errWhole = errors.New("tunnel: this connection closes as a whole only")

// halfClose tells an end that no more will come, and gives it a while.
func (t *Tunnel) halfClose(c any) error {
	half, ok := c.(interface{ CloseWrite() error })
	if !ok {
		return errWhole
	}
	t.mu.Lock()
	if t.timer == nil && !t.closed {
		t.timer = time.AfterFunc(t.linger, func() { t.Close() })
	}
	t.mu.Unlock()
	return half.CloseWrite()
}

type client struct {
	net.Conn
	tunnel *Tunnel
	early  []byte
}

func (c *client) Read(p []byte) (int, error) {
	if len(c.early) > 0 {
		n := copy(p, c.early)
		c.early = c.early[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

func (c *client) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.tunnel.sent.Add(int64(n))
	return n, err
}

func (c *client) CloseWrite() error { return c.tunnel.halfClose(c.Conn) }
func (c *client) Close() error      { return c.tunnel.Close() }

type upstream struct {
	io.ReadWriteCloser
	tunnel *Tunnel
}

func (u *upstream) CloseWrite() error { return u.tunnel.halfClose(u.ReadWriteCloser) }
func (u *upstream) Close() error      { return u.tunnel.Close() }
