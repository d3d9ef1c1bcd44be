package plainhttp

import (
	"context"
	"crypto/tls"
	"errors"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/keystile/keystile/internal/ticks"
)

// Server serves for an http.Server. Its methods are those of the http.Server, which must not be called itself.
type Server struct {
	http    *http.Server
	closing atomic.Bool
	watched ticks.Queue[*watch]

	mu    sync.Mutex
	conns map[*conn]struct{}
	none  chan struct{} // closed when closing and no connection is left; nil: nobody waits
}

// New returns a Server for s, which must not serve yet. Its protocols are HTTP/1.1's alone, and SetKeepAlivesEnabled is
// not heeded.
func New(s *http.Server) *Server { return &Server{http: s, conns: map[*conn]struct{}{}} }

// Serve accepts connections until Shutdown or Close, and returns http.ErrServerClosed then. It returns another error of
// the listener at once. After http.ErrServerClosed from the listener no connection comes, and those that are open are
// served on.
func (s *Server) Serve(l net.Listener) error {
	base := context.Background()
	if s.http.BaseContext != nil {
		base = s.http.BaseContext(l)
	}
	rest := &rest{Listener: l, conns: make(chan net.Conn), errs: make(chan error), closed: make(chan struct{})}
	go s.accept(context.WithValue(base, http.ServerContextKey, s.http), rest)
	return s.http.Serve(rest)
}

// accept starts what serves each connection. net/http decides about errors, and waits after some.
func (s *Server) accept(ctx context.Context, to *rest) {
	for {
		nc, err := to.Listener.Accept()
		switch {
		case err == nil:
			s.begin(ctx, nc, to)
			continue
		case errors.Is(err, http.ErrServerClosed):
			return
		}
		select {
		case to.errs <- err:
		case <-to.closed:
			return
		}
	}
}

func (s *Server) begin(ctx context.Context, nc net.Conn, to *rest) {
	if _, is := nc.(*tls.Conn); is {
		to.take(nc)
		return
	}
	c := newConn(ctx, s, nc, to)
	if !s.add(c) {
		nc.Close()
		return
	}
	c.changed(http.StateNew)
	go c.serve()
}

// Shutdown closes the listener and the connections that wait for a request, and returns when the others are done, or
// with the error of ctx.
func (s *Server) Shutdown(ctx context.Context) error {
	own := make(chan error, 1)
	go func() { own <- s.drain(ctx) }()
	err := s.http.Shutdown(ctx)
	if mine := <-own; err == nil {
		err = mine
	}
	return err
}

func (s *Server) drain(ctx context.Context) error {
	s.mu.Lock()
	s.closing.Store(true)
	if s.none == nil {
		s.none = make(chan struct{})
		s.closeIfNone()
	}
	none := s.none
	for c := range s.conns {
		c.closeIfWaiting()
	}
	s.mu.Unlock()
	select {
	case <-none:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// closeIfNone is called with mu locked, after a change.
func (s *Server) closeIfNone() {
	if s.none != nil && len(s.conns) == 0 {
		select {
		case <-s.none:
		default:
			close(s.none)
		}
	}
}

// Close closes the listener and all connections.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closing.Store(true)
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	return s.http.Close()
}

func (s *Server) add(c *conn) (added bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing.Load() {
		return false
	}
	s.conns[c] = struct{}{}
	return true
}

func (s *Server) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	s.closeIfNone()
}

func (s *Server) logf(format string, args ...any) {
	if s.http.ErrorLog != nil {
		s.http.ErrorLog.Printf(format, args...)
		return
	}
	log.Printf(format, args...)
}

// rest is the listener that net/http serves: what it accepts are the connections that are left to it.
type rest struct {
	net.Listener
	conns  chan net.Conn
	errs   chan error
	closed chan struct{}
	once   sync.Once
}

// Accept returns the next connection that is left to net/http.
func (r *rest) Accept() (net.Conn, error) {
	select {
	case c := <-r.conns:
		return c, nil
	case err := <-r.errs:
		return nil, err
	case <-r.closed:
		return nil, net.ErrClosed
	}
}

// Close closes the listener below as well.
func (r *rest) Close() error {
	r.once.Do(func() { close(r.closed) })
	return r.Listener.Close()
}

// take gives a connection to net/http, or closes it if there is no more to come from it.
func (r *rest) take(nc net.Conn) (taken bool) {
	select {
	case r.conns <- nc:
		return true
	case <-r.closed:
		nc.Close()
		return false
	}
}
