package connections

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/plainhttp"
)

// site is a server behind limits. Its connections are pipes: what is written has been read
// when Write returns, and nothing is kept in between.
type site struct {
	t      *testing.T
	limits *Limits
	server *http.Server
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// inBubble runs a test with a site, and time of its own: once with net/http's reader of requests, and once with
// plainhttp's before it.
func inBubble(t *testing.T, c Config, h http.HandlerFunc, test func(*site)) {
	t.Helper()
	t.Run("net/http", func(t *testing.T) { inOneBubble(t, c, h, test, false) })
	t.Run("plainhttp", func(t *testing.T) { inOneBubble(t, c, h, test, true) })
}

func inOneBubble(t *testing.T, c Config, h http.HandlerFunc, test func(*site), plain bool) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{t: t, limits: New(c), dialed: make(chan net.Conn), closed: make(chan struct{})}
		s.server = &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute}
		at := s.limits.Guard(s.server, s)
		serve, end := s.server.Serve, s.server.Close
		if plain {
			before := plainhttp.New(s.server)
			serve, end = before.Serve, before.Close
		}
		over := make(chan error)
		go func() { over <- serve(at) }()
		test(s)
		end()
		<-over
		time.Sleep(time.Second) // net/http waits for half of one before it closes some connections
		synctest.Wait()
		if n := s.limits.Stats().Open; n != 0 {
			t.Errorf("%d connections are still counted", n)
		}
	})
}

func (s *site) Accept() (net.Conn, error) {
	select {
	case c := <-s.dialed:
		return c, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

func (s *site) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

func (s *site) Addr() net.Addr { return &net.TCPAddr{} }

// client is one side of a connection.
type client struct {
	net.Conn
	t     *testing.T
	read  *bufio.Reader
	began time.Time
}

type addressed struct {
	net.Conn
	from net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.from }

func (s *site) dial(from string) *client {
	near, far := net.Pipe()
	s.dialed <- addressed{far, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 4711))}
	return newClient(s.t, near)
}

func newClient(t *testing.T, nc net.Conn) *client {
	return &client{nc, t, bufio.NewReader(nc), time.Now()}
}

// ask dials and sends the beginning of a request.
func (s *site) ask(text string) *client {
	c := s.dial("192.0.2.1")
	c.send(text)
	return c
}

func (c *client) send(text string) {
	if _, err := io.WriteString(c.Conn, text); err != nil {
		c.t.Errorf("sending %.40q: %v", text, err)
	}
}

// post is the header of a request with a body.
func post(length int) string {
	return fmt.Sprintf("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n", length)
}

const get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"

// upgrading makes a request ask for another protocol. Only such ones give their connection away.
func upgrading(request string) string {
	return strings.Replace(request, "\r\n", "\r\nConnection: Upgrade\r\nUpgrade: echo\r\n", 1)
}

// answer reads one answer.
func (c *client) answer() (status int, body string) {
	resp, err := http.ReadResponse(c.read, nil)
	if err != nil {
		return 0, err.Error()
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, err.Error()
	}
	return resp.StatusCode, string(text)
}

func (c *client) wantAnswer(status int) {
	c.t.Helper()
	if got, body := c.answer(); got != status {
		c.t.Errorf("answered %d %s, want %d", got, body, status)
	}
}

// wantClosed reads to the end, which has to come between two times after the dial.
func (c *client) wantClosed(from, to time.Duration) {
	c.t.Helper()
	c.SetReadDeadline(c.began.Add(24 * time.Hour))
	io.Copy(io.Discard, c.read)
	c.wantOver(from, to)
}

func (c *client) wantOver(from, to time.Duration) {
	c.t.Helper()
	if took := time.Since(c.began); took < from || took > to {
		c.t.Errorf("closed after %v, want it from %v to %v", took, from, to)
	}
}

// isOpen reports whether the server has not closed the connection by now. It takes no time.
func (c *client) isOpen() bool {
	synctest.Wait()
	c.SetReadDeadline(time.Now().Add(time.Nanosecond))
	defer c.SetReadDeadline(time.Time{})
	_, err := c.read.Peek(1)
	var late net.Error
	return err == nil || errors.As(err, &late) && late.Timeout()
}

// readAll is a handler that reads the body, and says how much that was.
func readAll(w http.ResponseWriter, r *http.Request) {
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil {
		w.WriteHeader(http.StatusRequestTimeout)
	}
	fmt.Fprint(w, n)
}

// refuse is a handler that does not read the body.
func refuse(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
