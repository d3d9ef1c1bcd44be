package restcall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/netguard"
)

// script is a RoundTripper whose answers are known beforehand; the last one stays.
type script struct {
	answers []any // an error, or a *http.Response
	sent    []time.Time
	open    int // bodies that are not closed
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	s.sent = append(s.sent, time.Now())
	next := s.answers[min(len(s.sent), len(s.answers))-1]
	if err, ok := next.(error); ok {
		return nil, err
	}
	resp := *next.(*http.Response)
	resp.Body = counted{resp.Body, s}
	s.open++
	return &resp, nil
}

// counted is a body that is missed while it is open.
type counted struct {
	io.ReadCloser
	script *script
}

func (c counted) Close() error {
	c.script.open--
	return c.ReadCloser.Close()
}

func status(code int, retryAfter string) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Retry-After": {retryAfter}},
		Body: io.NopCloser(strings.NewReader("x")), ContentLength: 1}
}

func TestRetryRepeatsOnlyGETsAndOnlyOnce(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: &net.AddrError{Err: "x"}}
	slow := &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
	for _, c := range []struct {
		name  string
		first any
		want  int
		wait  time.Duration
	}{
		{"a dial that fails", refused, 2, 0}, {"a refused connection", fmt.Errorf("x: %w", syscall.ECONNREFUSED), 2, 0},
		{"a reset", fmt.Errorf("x: %w", syscall.ECONNRESET), 2, 0}, {"a broken pipe", syscall.EPIPE, 2, 0},
		{"an end", io.EOF, 2, 0},
		{"a dial that takes too long", slow, 1, 0}, {"an address that is not allowed", &netguard.Refused{}, 1, 0},
		{"an answer that is no HTTP", errors.New("malformed HTTP response"), 1, 0},
		{"headers that break off", io.ErrUnexpectedEOF, 1, 0},
		{"502", status(502, "0"), 2, 0}, {"503", status(503, "1"), 2, time.Second},
		{"504", status(504, "2"), 2, 2 * time.Second},
		{"503, a date", status(503, "Sat, 01 Jan 2000 00:00:02 GMT"), 2, 2 * time.Second},
		{"503, a date that has been", status(503, "Sat, 01 Jan 1994 00:00:00 GMT"), 2, 0},
		{"503 for longer", status(503, "3"), 1, 0}, {"503 for much longer", status(503, "99999999999999999999"), 1, 0},
		{"503, a date far away", status(503, "Sat, 01 Jan 2000 00:00:03 GMT"), 1, 0},
		{"503 without a word", status(503, ""), 1, 0}, {"503, soon", status(503, "soon"), 1, 0},
		{"503, before", status(503, "-1"), 1, 0},
		{"500", status(500, "1"), 1, 0}, {"429", status(429, "1"), 1, 0}, {"200", status(200, "1"), 1, 0},
	} {
		for _, method := range methods {
			synctest.Test(t, func(t *testing.T) {
				s := &script{answers: []any{c.first, c.first}}
				tool := get
				tool.Method = strings.ToLower(method)
				r, err := newCaller(t, Config{Transport: s}).Call(t.Context(), Upstream{BaseURL: base}, compile(t, tool), nil)
				want, wait := c.want, c.wait
				if method != http.MethodGet {
					want, wait = 1, 0
				}
				if err != nil || len(s.sent) != want || s.sent[len(s.sent)-1].Sub(s.sent[0]) != wait ||
					r.IsError != (c.name != "200") {
					t.Errorf("%s, %s: sent %v, %+v, %v, want %d times within %v", method, c.name, s.sent, r, err, want, wait)
				}
				if s.open != 0 {
					t.Errorf("%s, %s: %d bodies stay open, want none", method, c.name, s.open)
				}
			})
		}
	}
}

func TestRetryMaySucceed(t *testing.T) {
	var n atomic.Int64
	r := called(t, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(503)
		}
		io.WriteString(w, "done")
	})
	if r.IsError || texts(r) != "done" || n.Load() != 2 {
		t.Errorf("the result is %+v after %d requests, want that of the second", r, n.Load())
	}
}

// abort closes the connection with a reset and without an answer.
func abort(t *testing.T, w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

func TestUpstreamThatHangsUpSeesAtMostTwoRequests(t *testing.T) {
	for _, warm := range []bool{false, true} {
		for method, want := range map[string]int{"get": 2, "post": 1} {
			var hangUp atomic.Bool
			u := serve(t, false, nil)
			u.answer = func(w http.ResponseWriter, _ *http.Request) {
				if hangUp.Load() {
					abort(t, w)
				}
			}
			c, tool := u.caller(t, Config{}), get
			tool.Method = method
			p := compile(t, tool)
			if warm { // leaves a connection, on which net/http sends a GET again by itself
				if _, err := c.Call(t.Context(), Upstream{BaseURL: base}, p, nil); err != nil {
					t.Fatal(err)
				}
			}
			before := len(u.requests())
			hangUp.Store(true)
			r, err := c.Call(t.Context(), Upstream{BaseURL: base}, p, nil)
			if got := len(u.requests()) - before; err != nil || !r.IsError || got != want {
				t.Errorf("%s, a kept connection %t: %d requests, %+v, %v, want %d", method, warm, got, r, err, want)
			}
		}
	}
}
