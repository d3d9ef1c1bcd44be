package upstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// played is a service that answers each request, on whatever connection it comes, with the next of its answers.
type played struct {
	mu      sync.Mutex
	answers []reply
	piece   int // bytes that are read at once, at most; 0: all
	dials   int
	sent    []string
	conns   []*playedConn
}

// reply holds the bytes that are sent for one request.
type reply struct {
	bytes string
	end   bool // the connection ends behind it
	late  string
	after time.Duration // when late comes
}

// last is an answer with which its connection ends.
func last(text string) []reply { return []reply{{bytes: text, end: true}} }

func (p *played) dial(context.Context, string, string) (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dials++
	c := &playedConn{of: p}
	c.came.L = &p.mu
	p.conns = append(p.conns, c)
	return c, nil
}

// playedConn is a connection to a service that is played. Its lock is the service's.
type playedConn struct {
	net.Conn
	of      *played
	came    sync.Cond
	request string // what has come of it
	here    []byte
	until   time.Time // a Read waits so long; zero: for ever
	ended   bool
	closed  bool
	breaks  bool // the next Write breaks off behind wrote bytes
	wrote   int
}

// isWhole reports whether a request has come to its end.
func isWhole(request string) bool {
	head, body, ok := strings.Cut(request, "\r\n\r\n")
	if strings.Contains(head, "\r\nTransfer-Encoding: chunked") {
		return strings.Contains(body, "0\r\n") && strings.HasSuffix(body, "\r\n\r\n") // trailers are between them
	}
	_, length, _ := strings.Cut(head, "\r\nContent-Length: ")
	length, _, _ = strings.Cut(length, "\r\n")
	n, _ := strconv.Atoi(length)
	return ok && len(body) >= n
}

func (c *playedConn) Write(p []byte) (int, error) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.closed || c.ended {
		return 0, net.ErrClosed
	}
	if c.breaks {
		return c.wrote, errors.New("broken")
	}
	c.of.sent = append(c.of.sent, string(p))
	if c.request += string(p); !isWhole(c.request) {
		return len(p), nil
	}
	c.request = ""
	if len(c.of.answers) == 0 {
		return 0, errors.New("nothing is played any more")
	}
	next := c.of.answers[0]
	c.of.answers = c.of.answers[1:]
	c.here, c.ended = append(c.here, next.bytes...), next.end
	c.came.Broadcast()
	if next.late != "" {
		time.AfterFunc(next.after, func() { c.comes(next.late) })
	}
	return len(p), nil
}

func (c *playedConn) comes(text string) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.here = append(c.here, text...)
	c.came.Broadcast()
}

func (c *playedConn) Read(p []byte) (int, error) {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	late := func() bool { return !c.until.IsZero() && !time.Now().Before(c.until) }
	for len(c.here) == 0 && !c.ended && !c.closed && !late() {
		c.came.Wait()
	}
	switch {
	case late():
		return 0, os.ErrDeadlineExceeded
	case c.closed:
		return 0, net.ErrClosed
	case len(c.here) == 0:
		return 0, io.EOF
	case c.of.piece > 0:
		p = p[:min(len(p), c.of.piece)]
	}
	n := copy(p, c.here)
	c.here = c.here[n:]
	return n, nil
}

func (c *playedConn) Close() error {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	c.closed = true
	c.came.Broadcast()
	return nil
}

func (c *playedConn) isSilent() bool {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	return len(c.here) == 0 && !c.ended && !c.closed
}

func (c *playedConn) SetReadDeadline(at time.Time) error {
	c.of.mu.Lock()
	defer c.of.mu.Unlock()
	if c.until = at; !at.IsZero() {
		time.AfterFunc(time.Until(at), func() { c.comes("") })
	}
	return nil
}

func (c *playedConn) SetWriteDeadline(time.Time) error { return nil }
func (c *playedConn) SetDeadline(time.Time) error      { return nil }
func (c *playedConn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *playedConn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }

// open returns how many of the connections are not closed.
func (p *played) open() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		if !c.closed {
			n++
		}
	}
	return n
}

// bounds are those of the tests, but for what a test says.
func bounds(dial func(context.Context, string, string) (net.Conn, error)) *http.Transport {
	return &http.Transport{DialContext: dial, MaxIdleConns: 100, MaxIdleConnsPerHost: 10, MaxResponseHeaderBytes: 2000}
}

// ours returns a Transport whose connections are played.
func ours(next *http.Transport) *Transport {
	t := New(next)
	t.silent = func(c *conn) bool { return c.Conn.(interface{ isSilent() bool }).isSilent() }
	return t
}

// outcome is all that a caller sees of an answer, the interim ones too.
type outcome struct {
	Failed, BodyFailed string // kinds of errors
	Interim            string
	Status, Proto      string
	Code               int
	Header, Trailer    string
	Length             int64
	Encoding           string
	Uncompressed       bool
	Close              bool
	Body               string
}

// ask sends a request and reads all of its answer.
func ask(rt http.RoundTripper, r *http.Request) (o outcome) {
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
			o.Interim += fmt.Sprintln(code, h)
			return nil
		},
	}))
	res, err := rt.RoundTrip(r)
	if err != nil {
		return outcome{Failed: kind(err), Interim: o.Interim}
	}
	defer res.Body.Close()
	o.Status, o.Proto, o.Code, o.Length, o.Close = res.Status, res.Proto, res.StatusCode, res.ContentLength, res.Close
	o.Header, o.Encoding, o.Uncompressed = fmt.Sprint(res.Header), fmt.Sprint(res.TransferEncoding), res.Uncompressed
	announced := fmt.Sprint(res.Trailer)
	all, err := io.ReadAll(res.Body)
	o.Body, o.Trailer = string(all), announced+fmt.Sprint(res.Trailer)
	if err != nil {
		o.BodyFailed = kind(err)
	}
	return o
}

func kind(err error) string {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too early"
	case errors.Is(err, io.EOF):
		return "it ends before it begins"
	}
	return "error"
}

// compared plays the same answers to both clients, and reports what differs. Each answer is asked for once.
func compared(t *testing.T, requests func() []*http.Request, answers []reply, piece int) (ourDials int) {
	t.Helper()
	a, b := &played{answers: slices.Clone(answers), piece: piece}, &played{answers: slices.Clone(answers), piece: piece}
	netHTTP, mine := bounds(a.dial), ours(bounds(b.dial))
	defer netHTTP.CloseIdleConnections()
	defer mine.CloseIdleConnections()
	theirs, own := requests(), requests()
	for i := range theirs {
		want, got := ask(netHTTP, theirs[i]), ask(mine, own[i])
		if want.Failed == "" && want.Code < 100 { // a status that no handler can write
			want = outcome{Failed: "error", Interim: want.Interim}
		}
		if want.Code == http.StatusSwitchingProtocols { // nobody has asked for another protocol
			want.Body, want.BodyFailed = "", ""
		}
		if got != want {
			t.Errorf("request %d, %s, of the answers %+q in pieces of %d:\n got %+v\nwant %+v", i+1, own[i].Method,
				texts(answers), piece,
				got, want)
		}
	}
	if len(theirs) > 1 && a.dials != b.dials {
		t.Errorf("%d connections, net/http %d, for the answers %q", b.dials, a.dials, texts(answers))
	}
	return b.dials
}

func get(method string) *http.Request {
	var body io.Reader
	if method == http.MethodPost {
		body = bytes.NewReader([]byte("body"))
	}
	r, err := http.NewRequest(method, "http://api.example.test/a?b=c", body)
	if err != nil {
		panic(err)
	}
	return r
}

func texts(answers []reply) (all []string) {
	for _, a := range answers {
		all = append(all, fmt.Sprint(a.bytes, " then end: ", a.end))
	}
	return all
}
