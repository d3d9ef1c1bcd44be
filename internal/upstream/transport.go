package upstream

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
)

// Transport sends requests over plain HTTP/1.1, each in the goroutine of its caller. It is safe for concurrent use.
type Transport struct {
	next    *http.Transport
	alone   bool // false: every request goes on to next
	maxHead int64
	idle    *pool
	silent  func(*conn) bool // whether nothing has come on a connection that is idle, not even its end
}

// New returns a Transport over one of net/http, which gets the requests that it does not take (see the package). It
// dials as that one does and has the same bounds: DialContext, ResponseHeaderTimeout, MaxResponseHeaderBytes,
// MaxIdleConns, MaxIdleConnsPerHost, IdleConnTimeout and DisableCompression, which must not change any more. Where that
// one has no DialContext, or has a Proxy, a MaxConnsPerHost, no idle connections or other protocols than HTTP/1, it
// gets everything.
func New(next *http.Transport) *Transport {
	t := &Transport{next: next, maxHead: next.MaxResponseHeaderBytes, silent: (*conn).isSilent}
	if t.maxHead == 0 {
		t.maxHead = 10 << 20 // as net/http
	}
	t.alone = canBeSilent && next.DialContext != nil && next.Proxy == nil && next.MaxConnsPerHost == 0 &&
		!next.DisableKeepAlives && (next.Protocols == nil || next.Protocols.HTTP1() && !next.Protocols.UnencryptedHTTP2())
	t.idle = newPool(next, func(c *conn) bool { return t.silent(c) })
	return t
}

// CloseIdleConnections closes the connections that are idle, net/http's too. One in use is closed when its answer has
// been read, unless another request has been sent meanwhile.
func (t *Transport) CloseIdleConnections() {
	t.idle.close()
	t.next.CloseIdleConnections()
}

// RoundTrip sends a request and returns its answer, as http.RoundTripper says. Its errors are of the kinds that
// net/http returns: the cause of a context that has ended; a net.Error with Timeout if no header came in time, which is
// context.DeadlineExceeded too; io.EOF if the connection ended instead; that of the dialer.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !t.alone {
		return t.next.RoundTrip(r)
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	e := exchange{Transport: t, r: r, ctx: r.Context(), gzip: t.asksForGzip(r)}
	e.trace = httptrace.ContextClientTrace(e.ctx)
	out, ok := appendHead((*buffer)[:0], r, e.gzip)
	*buffer = out[:0]
	if !ok || asksForMore(e.trace) {
		return t.next.RoundTrip(r)
	}
	e.out, e.err = appendBody(out, r)
	*buffer = e.out[:0]
	if e.err == nil && e.ctx.Err() != nil {
		e.err = context.Cause(e.ctx)
	}
	for e.err == nil && e.res == nil {
		e.attempt()
	}
	return e.res, e.err
}

// buffers holds the memory that requests are written into.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 2<<10); return &b }}

// asksForGzip reports whether gzip is asked for here and undone here, as net/http does it.
func (t *Transport) asksForGzip(r *http.Request) bool {
	return !t.next.DisableCompression && r.Method != http.MethodHead && r.Header.Get("Accept-Encoding") == "" &&
		r.Header.Get("Range") == ""
}

// asksForMore reports whether somebody wants to be told what is told by net/http alone.
func asksForMore(t *httptrace.ClientTrace) bool {
	return t != nil && (t.GetConn != nil || t.PutIdleConn != nil || t.WroteHeaderField != nil)
}

// exchange is a request on its way to its answer. It is over when it has an answer or an error.
type exchange struct {
	*Transport
	r     *http.Request
	ctx   context.Context
	trace *httptrace.ClientTrace // may be nil
	out   []byte                 // the whole request
	gzip  bool

	res *http.Response
	err error
}

// attempt sends the request on a connection and reads the head of its answer. It leaves neither an answer nor an error
// if the request is to be sent again, which is only where the connection had been used before: it may have ended
// before the request came.
func (e *exchange) attempt() {
	c := e.connection()
	if c == nil {
		return
	}
	stop := context.AfterFunc(e.ctx, c.abort)
	again, err := e.send(c)
	if err == nil {
		again, err = e.receive(c)
	}
	if err == nil {
		e.answer(c, stop)
		return
	}
	stop()
	c.Close()
	switch {
	case e.ctx.Err() != nil:
		e.err = context.Cause(e.ctx)
	case !again || !c.reused:
		e.err = err
	}
}

// connection returns one that is idle, or a new one; nil if there is none, with the error in the exchange.
func (e *exchange) connection() *conn {
	host := e.r.URL.Host
	c := e.idle.get(host)
	if c == nil {
		plain, err := e.next.DialContext(e.ctx, "tcp", address(host))
		if err != nil {
			if e.err = err; e.ctx.Err() != nil {
				e.err = context.Cause(e.ctx)
			}
			return nil
		}
		c = newConn(plain, host)
	}
	if e.trace != nil && e.trace.GotConn != nil {
		e.trace.GotConn(httptrace.GotConnInfo{Conn: c.Conn, Reused: c.reused, WasIdle: c.reused})
	}
	return c
}

// send writes the request. It may be sent again if nothing of it was.
func (e *exchange) send(c *conn) (again bool, err error) {
	n, err := c.Write(e.out)
	if e.trace != nil {
		if n > 0 && e.trace.WroteHeaders != nil {
			e.trace.WroteHeaders()
		}
		if e.trace.WroteRequest != nil {
			e.trace.WroteRequest(httptrace.WroteRequestInfo{Err: err})
		}
	}
	if err != nil {
		return n == 0, fmt.Errorf("upstream: the request could not be sent: %w", err)
	}
	return false, nil
}

// receive waits for the first byte of the answer. The request may be sent again if the connection ended before it, and
// two of its kind do as much as one.
func (e *exchange) receive(c *conn) (again bool, err error) {
	if wait := e.next.ResponseHeaderTimeout; wait > 0 {
		c.SetReadDeadline(time.Now().Add(wait))
	}
	c.limit = e.maxHead
	if _, err = c.in.Peek(1); err != nil {
		return isReplayable(e.r) && !isLate(err), e.explain(err)
	}
	if e.trace != nil && e.trace.GotFirstResponseByte != nil {
		e.trace.GotFirstResponseByte()
	}
	if e.res, err = e.head(c); err != nil {
		return false, e.explain(err)
	}
	return false, nil
}

// explain says in place of an error of the connection what it means for an answer.
func (e *exchange) explain(err error) error {
	switch {
	case isLate(err):
		return errLate
	case errors.Is(err, errLong):
		return fmt.Errorf("upstream: the header of the answer has more than %d bytes", e.maxHead)
	}
	return err
}

// answer gives the answer its body, and the connection a next use.
func (e *exchange) answer(c *conn, stop func() bool) {
	length := e.res.ContentLength
	b := &body{idle: e.idle, c: c, ctx: e.ctx, stop: stop, src: e.res.Body, left: length,
		keep: !e.res.Close && e.res.StatusCode >= 200}
	c.limit = noLimit
	if length == 0 || e.r.Method == http.MethodHead {
		e.res.Body = http.NoBody
		b.end(io.EOF)
		return
	}
	if here := int64(c.in.Buffered()); e.next.ResponseHeaderTimeout > 0 && (length < 0 || length > here) {
		c.SetReadDeadline(time.Time{})
	}
	e.res.Body = b
	if e.gzip {
		unzip(e.res)
	}
}

// isReplayable reports whether a request may be sent twice, by the rules of net/http.
func isReplayable(r *http.Request) bool {
	if r.Body != nil && r.Body != http.NoBody && r.GetBody == nil {
		return false
	}
	switch r.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return has(r.Header, "Idempotency-Key") || has(r.Header, "X-Idempotency-Key")
}
