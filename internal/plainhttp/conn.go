package plainhttp

import (
	"context"
	"errors"
	"net"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"
)

const (
	mostRead = 4 << 10 // bytes of a request that are read at once; a plain head is no longer
	// A client that is still sending is given so long to read the answer before the connection is gone.
	lastRead = 500 * time.Millisecond
)

// States of a conn, beside what ConnState is told.
const (
	waiting int32 = iota // for a request
	busy
	closed
)

// conn is a connection. It is a net.Conn for hooks and for net/http, which reads first what was read already.
type conn struct {
	net.Conn
	server *Server
	rest   *rest
	base   context.Context
	remote string
	state  atomic.Int32

	buf        []byte
	from, to   int // buf[from:to] was read, and not used yet
	skipped    int // line ends before a request
	lastPost   bool
	asked      bool      // a request was here
	headBy     time.Time // when the first head has to be here; zero once it was, or for any time
	inFlight   *response
	handedOver bool
	watch      watch
	broken     atomic.Bool // a write has failed
}

func newConn(ctx context.Context, s *Server, nc net.Conn, to *rest) *conn {
	c := &conn{Conn: nc, server: s, rest: to, remote: nc.RemoteAddr().String(), buf: make([]byte, mostRead)}
	c.watch.init(c)
	if s.http.ConnContext != nil {
		ctx = s.http.ConnContext(ctx, c)
	}
	c.base = context.WithValue(ctx, http.LocalAddrContextKey, nc.LocalAddr())
	if d := s.readHeaderTimeout(); d > 0 {
		c.headBy = time.Now().Add(d)
	}
	return c
}

func (s *Server) readHeaderTimeout() time.Duration {
	if s.http.ReadHeaderTimeout != 0 {
		return s.http.ReadHeaderTimeout
	}
	return s.http.ReadTimeout
}

func (s *Server) idleTimeout() time.Duration {
	if s.http.IdleTimeout != 0 {
		return s.http.IdleTimeout
	}
	return s.http.ReadTimeout
}

// NetConn returns the connection below, as that of a tls.Conn does.
func (c *conn) NetConn() net.Conn { return c.Conn }

// serve reads and answers requests until one is not plain, or the connection is over.
func (c *conn) serve() {
	defer c.end()
	for c.await() {
		var h head
		n := h.parse(c.buf[c.from:c.to])
		if n == 0 {
			c.handOver()
			return
		}
		c.headBy, c.asked = time.Time{}, true
		c.from += n
		if !c.answer(&h) {
			return
		}
		c.changed(http.StateIdle)
		c.state.Store(waiting)
		if c.server.closing.Load() {
			return
		}
	}
}

// await waits for the beginning of a request: of the first one for as long as a head may take, of others for as long as
// a connection may be idle.
func (c *conn) await() (ok bool) {
	by := c.headBy
	c.skipped = 0
	c.skipLineEnds()
	for ; c.from == c.to; c.skipLineEnds() {
		c.from, c.to = 0, 0
		if d := c.server.idleTimeout(); d > 0 && c.asked && by.IsZero() {
			by = time.Now().Add(d)
		}
		c.SetReadDeadline(by)
		n, err := c.Conn.Read(c.buf)
		if c.to = n; n == 0 && err != nil {
			return false
		}
	}
	if !c.state.CompareAndSwap(waiting, busy) {
		return false
	}
	c.changed(http.StateActive)
	return true
}

// skipLineEnds skips what some old clients send after the body of a POST, as net/http does.
func (c *conn) skipLineEnds() {
	for c.lastPost && c.skipped < 4 && c.from < c.to && (c.buf[c.from] == '\r' || c.buf[c.from] == '\n') {
		c.from++
		c.skipped++
	}
}

// answer has the handler answer a request. It reports whether another one may follow.
func (c *conn) answer(h *head) (again bool) {
	ctx, cancel := context.WithCancel(c.base)
	w := &response{conn: c, request: h.request(ctx), cancel: cancel, header: make(http.Header), length: -1}
	w.request.RemoteAddr = c.remote
	if h.length > 0 {
		w.body = &body{conn: c, left: h.length}
		w.request.Body = w.body
	}
	w.writers = takeWriters(w)
	c.lastPost, c.inFlight = h.method == http.MethodPost, w
	c.limitRequest()
	c.watch.begin(cancel, w.body == nil)
	c.server.handler().ServeHTTP(w, w.request)
	cancel()
	w.finish()
	c.inFlight = nil
	c.SetWriteDeadline(time.Time{})
	again = w.reusable()
	if !again && (w.tooBig || w.body.gaveUp()) {
		c.closeWriteAndWait()
	}
	return again
}

var blank http.Request // to be copied by WithContext, the only way to give a request a context

func (h *head) request(ctx context.Context) *http.Request {
	r := blank.WithContext(ctx)
	r.Method, r.URL, r.RequestURI, r.Host = h.method, h.url, h.target, h.host
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	r.Header, r.ContentLength, r.Body = h.header, h.length, http.NoBody
	return r
}

func (s *Server) handler() http.Handler {
	if s.http.Handler != nil {
		return s.http.Handler
	}
	return http.DefaultServeMux
}

// limitRequest sets the deadlines of a request whose head has come.
func (c *conn) limitRequest() {
	var read time.Time
	if d := c.server.http.ReadTimeout; d > 0 {
		read = time.Now().Add(d)
	}
	c.SetReadDeadline(read)
	if d := c.server.http.WriteTimeout; d > 0 {
		c.SetWriteDeadline(time.Now().Add(d))
	}
}

// handOver gives the connection to net/http, with what was read.
func (c *conn) handOver() {
	c.handedOver = true
	if c.rest.take(c) {
		c.server.remove(c)
		return
	}
	c.handedOver = false
}

// Read is called by net/http alone, once the connection is its own.
func (c *conn) Read(p []byte) (int, error) {
	if c.from < c.to {
		n := copy(p, c.buf[c.from:c.to])
		if c.from += n; c.from == c.to {
			c.buf = nil
		}
		return n, nil
	}
	return c.Conn.Read(p)
}

// SetReadDeadline keeps the first head to its time: net/http would begin anew.
func (c *conn) SetReadDeadline(t time.Time) error {
	if c.handedOver && !c.headBy.IsZero() {
		if t.IsZero() || c.headBy.Before(t) {
			t = c.headBy
		}
		c.headBy = time.Time{}
	}
	return c.Conn.SetReadDeadline(t)
}

// CloseWrite says that nothing more will come, where a connection can.
func (c *conn) CloseWrite() error {
	half, ok := c.Conn.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	return half.CloseWrite()
}

func (c *conn) closeWriteAndWait() {
	c.CloseWrite()
	time.Sleep(lastRead)
}

// closeIfWaiting closes a connection that has no request.
func (c *conn) closeIfWaiting() {
	if c.state.CompareAndSwap(waiting, closed) {
		c.Close()
	}
}

// end closes the connection, unless it is net/http's by now. A handler may have panicked, or ended its goroutine.
func (c *conn) end() {
	if p := recover(); p != nil && p != http.ErrAbortHandler {
		c.server.logf("http: panic serving %v: %v\n%s", c.remote, p, debug.Stack())
	}
	if c.handedOver {
		return
	}
	if c.inFlight != nil {
		c.inFlight.abort()
	}
	c.Close()
	c.server.remove(c)
	c.changed(http.StateClosed)
}

func (c *conn) changed(to http.ConnState) {
	if hook := c.server.http.ConnState; hook != nil {
		hook(c, to)
	}
}
