package restcall

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

func TestEmptyBodyIsSentAsNone(t *testing.T) {
	r, err := build(t, one("post", "/", "text/plain", "{}", whole{}), `{"x":""}`)
	if err != nil {
		t.Fatal(err)
	}
	if sent := r.http(t.Context()); sent.Body != nil || sent.ContentLength != 0 {
		t.Errorf("the body is %v of %d bytes, want none: net/http would send it in chunks", sent.Body, sent.ContentLength)
	}
}

// net/http needs the body anew when a kept connection dies before it was written to.
func TestBodyCanBeReadTwice(t *testing.T) {
	r, err := build(t, one("post", "/", "text/plain", "{}", whole{}), `{"x":"all of it"}`)
	if err != nil {
		t.Fatal(err)
	}
	sent := r.http(t.Context())
	again, err := sent.GetBody()
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []io.Reader{sent.Body, again} {
		if text, err := io.ReadAll(body); string(text) != "all of it" || err != nil || sent.ContentLength != 9 {
			t.Errorf("the body is %q of %d, %v, want all of it", text, sent.ContentLength, err)
		}
	}
}

func TestCallTakesNoLongerThanItsTimeout(t *testing.T) {
	for name, first := range map[string]roundTrip{
		"no answer": func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		},
		"a body without end": func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: drip{r.Context()}, ContentLength: -1}, nil
		},
		"a wait before a retry": func(r *http.Request) (*http.Response, error) {
			time.Sleep(29 * time.Second)
			return status(503, "2"), nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			r, err := newCaller(t, Config{Transport: first}).Call(t.Context(), Upstream{BaseURL: base}, compile(t, get), nil)
			if took := time.Since(began); err != nil || !r.IsError || took != 30*time.Second ||
				!strings.Contains(texts(r), "within 30s") {
				t.Errorf("%s: %+v, %v after %v, want an error after 30 s", name, r, err, took)
			}
		})
	}
}

// drip is a body that gives a byte a second, until its request's context ends.
type drip struct{ ctx context.Context }

func (d drip) Read(p []byte) (int, error) {
	select {
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	case <-time.After(time.Second):
		return copy(p, "x"), nil
	}
}

func (drip) Close() error { return nil }

func TestCallerThatGoesAwayEndsTheCallAtTheUpstream(t *testing.T) {
	for name, early := range map[string]bool{"before the answer": true, "within the answer": false} {
		arrived, ended := make(chan struct{}), make(chan struct{})
		u := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
			defer close(ended)
			if !early {
				io.WriteString(w, "[1,")
				w.(http.Flusher).Flush()
			}
			close(arrived)
			<-r.Context().Done()
		})
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("the client went away")
		go func() { <-arrived; cancel(gone) }()
		r, err := u.caller(t, Config{}).Call(ctx, Upstream{BaseURL: base}, compile(t, get), nil)
		if !errors.Is(err, gone) || r.Content != nil {
			t.Errorf("%s: Call() = %+v, %v, want %v", name, r, err, gone)
		}
		<-ended
		if n := len(u.requests()); n != 1 {
			t.Errorf("%s: %d requests arrived, want 1", name, n)
		}
	}
}

func TestCallerThatGoesAwayIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s, began := &script{answers: []any{status(503, "2")}}, time.Now()
		_, err := newCaller(t, Config{Transport: s}).Call(ctx, Upstream{BaseURL: base}, compile(t, get), nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second || len(s.sent) != 1 {
			t.Errorf("Call() = %v after %v and %d requests, want the end of ctx", err, time.Since(began), len(s.sent))
		}
	})
}

func TestCallLeavesNothingRunning(t *testing.T) {
	var call context.Context
	c := newCaller(t, Config{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		call = r.Context()
		return status(200, ""), nil
	})})
	if _, err := c.Call(t.Context(), Upstream{BaseURL: base}, compile(t, get), nil); err != nil || call.Err() == nil {
		t.Errorf("Call() = %v, and its context ended: %t; want both over", err, call.Err() != nil)
	}
}

func TestFailuresNameNoUpstream(t *testing.T) {
	u := serve(t, true, answers(200, "{}"))
	g, err := netguard.New(netguard.Config{Resolver: nowhere})
	if err != nil {
		t.Fatal(err)
	}
	open, err := netguard.New(netguard.Config{Allow: []string{"127.0.0.0/8"}})
	if err != nil {
		t.Fatal(err)
	}
	local := u.server.Listener.Addr().String()
	timeout := roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "read", Addr: u.server.Listener.Addr(), Err: context.DeadlineExceeded}
	})
	wrapped := roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Addr: u.server.Listener.Addr(), Err: &netguard.Refused{}}
	})
	plain := serve(t, false, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, _ := w.(http.Hijacker).Hijack()
		io.WriteString(conn, "hello topsecret "+local+"\r\n\r\n")
		conn.Close()
	})
	for _, c := range []struct {
		name, base string
		transport  http.RoundTripper
		want       string
	}{
		{"an address inside", "https://" + local, g.Transport(), "address not allowed"},
		{"a name that is none", "https://unknown.example.test", g.Transport(), "could not be reached"},
		{"a certificate of nobody", "https://" + local, open.Transport(), "TLS certificate"},
		{"a closed port", "http://127.0.0.1:1", open.Transport(), "could not be reached"},
		{"HTTP to a TLS port", "http://" + local, open.Transport(), "HTTP 400"},
		{"TLS to an HTTP port", "https://" + plain.server.Listener.Addr().String(), open.Transport(),
			"could not be reached"}, {"no HTTP", plain.server.URL, open.Transport(), "could not be reached"},
		{"a refusal within another error", "https://" + local, wrapped, "address not allowed"},
		{"a slow connection", "https://" + local, timeout, "in time"},
	} {
		to := Upstream{BaseURL: c.base + "/v1?t=topsecret", AuthType: "bearer", Secret: storage.NewSecret("topsecret")}
		r, err := newCaller(t, Config{Transport: c.transport}).Call(t.Context(), to, compile(t, get), nil)
		if err != nil || !r.IsError || !strings.Contains(texts(r), c.want) || r.Status == 0 && r.Cause == nil {
			t.Errorf("%s: %+v, %v, want an error: %s", c.name, r, err, c.want)
		}
		for _, leak := range []string{"127.0.0.1", "example.test", "topsecret", "dial", "lookup", "x509"} {
			if strings.Contains(texts(r), leak) {
				t.Errorf("%s: the text is %q, want no %q in it", c.name, texts(r), leak)
			}
		}
	}
}

func TestCallerNeedsATransport(t *testing.T) {
	c, err := New(Config{MaxResponse: -1, Timeout: -1})
	if c != nil || err == nil {
		t.Fatalf("New() = %v, %v, want an error", c, err)
	}
	for _, piece := range []string{"Transport", "MaxResponse", "Timeout"} {
		if !strings.Contains(err.Error(), piece) {
			t.Errorf("New() = %v, want it to name %s", err, piece)
		}
	}
}

// A model that reads "try again" does so.
func TestCallThatMayHaveChangedSomethingIsNotToBeMadeAgainUnseen(t *testing.T) {
	const look = "look whether the call was carried out before you try again"
	breaksOff := roundTrip(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })
	unreached := roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
	})
	for _, c := range []struct {
		tool toolplan.Tool
		by   http.RoundTripper
		want bool
	}{
		{post, breaksOff, true}, {get, breaksOff, false}, {post, unreached, false},
		{post, slow{time.Hour, 0}, true}, {get, slow{time.Hour, 0}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			caller := newCaller(t, Config{Transport: c.by})
			r, err := caller.Call(t.Context(), Upstream{BaseURL: base}, compile(t, c.tool), nil)
			text := texts(r)
			if err != nil || strings.Contains(text, look) != c.want || !strings.Contains(text, "try again") {
				t.Errorf("%s: %q, %v; want %q in it: %v", c.tool.Method, text, err, look, c.want)
			}
		})
	}
}
