package requests

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
)

func TestIDIsInTheContextTheAnswerAndWhatIsHandedOn(t *testing.T) {
	var in, onward, trace string
	d := newDesk(t, func(_ http.ResponseWriter, r *http.Request) {
		in, onward, trace = reqctx.ID(r.Context()), r.Header.Get(reqctx.Header), r.Header.Get("traceparent")
	})
	w := d.serve("GET", "/", "Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	if id := w.Header().Get(reqctx.Header); id == "" || in != id || onward != id {
		t.Errorf("answered %q, context %q, handed on %q", id, in, onward)
	}
	if trace != "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" || w.Header().Get("Traceparent") != "" {
		t.Errorf("traceparent became %q", trace)
	}
	if reqctx.ID(context.Background()) != "" {
		t.Error("there is an id outside of a request")
	}
}

func TestRecordsOfARequestCarryItsID(t *testing.T) {
	d := newDesk(t, nil)
	log := d.log.With("a", 1).WithGroup("g")
	d.next = func(_ http.ResponseWriter, r *http.Request) { log.InfoContext(r.Context(), "within") }
	d.serve("GET", "/", reqctx.Header, "id-1")
	log.Info("without")
	for line := range strings.Lines(d.out.String()) {
		if want := !strings.Contains(line, "msg=without"); strings.Contains(line, "request_id=id-1") != want {
			t.Errorf("%q; want the id: %t", line, want)
		}
	}
}

func TestRequestGetsOneLineWithoutItsSecrets(t *testing.T) {
	d := newDesk(t, nil)
	d.serve("POST", "/known/7?code=SECRET", reqctx.Header, "id-1", "Authorization", "Bearer SECRET", "Cookie", "c=SECRET")
	d.serve("GET", "/SECRET")
	d.serve("SECRET", "/")
	text := d.out.String()
	if strings.Contains(text, "SECRET") || strings.Count(text, "\n") != 3 {
		t.Errorf("logged %s", text)
	}
	for _, want := range []string{"level=INFO msg=request method=POST path=/known/{id} status=201 bytes=5 duration=",
		"ip=192.0.2.1 request_id=id-1", "path=other status=404", "method=other path=/ "} {
		if !strings.Contains(text, want) {
			t.Errorf("logged %s, want %q", text, want)
		}
	}
}

func TestLineCanBeSilenced(t *testing.T) {
	d := newDesk(t, nil)
	d.conf.Quiet = true
	d.serve("GET", "/")
	if d.out.Len() > 0 || len(d.seen) != 1 {
		t.Errorf("logged %s, observed %v", d.out.String(), d.seen)
	}
}

func TestFrontObservesWhatIsAnswered(t *testing.T) {
	for _, c := range []struct {
		name   string
		do     http.HandlerFunc
		status int
		bytes  int64
	}{
		{"nothing", func(http.ResponseWriter, *http.Request) {}, 200, 0},
		{"a body", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "abc"); io.WriteString(w, "d") }, 200, 4},
		{"a status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, 503, 0},
		{"an announcement first", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(204) },
			204, 0},
		{"two statuses", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400); w.WriteHeader(200) }, 400, 0},
		{"a stream", func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() }, 200, 0},
		{"a stream by controller", func(w http.ResponseWriter, _ *http.Request) {
			if err := http.NewResponseController(w).Flush(); err != nil {
				panic(err)
			}
		}, 200, 0},
		{"broken off", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 0, 0},
	} {
		d := newDesk(t, c.do)
		d.serve("GET", "/")
		if len(d.seen) != 1 || d.seen[0].Status != c.status || d.seen[0].Bytes != c.bytes || d.begun != 1 ||
			d.seen[0].Took < 0 {
			t.Errorf("%s: began %d, observed %+v; want status %d, %d bytes", c.name, d.begun, d.seen, c.status, c.bytes)
		}
	}
}

func TestSwitchedProtocolIsObservedAsOne(t *testing.T) {
	over := make(chan struct{})
	d := newDesk(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\n\r\n")
		conn.Close()
	})
	front := Front(d.conf)(d.next)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(over)
		front.ServeHTTP(w, r)
	}))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
	io.ReadAll(conn)
	<-over
	if len(d.seen) != 1 || d.seen[0].Status != 101 {
		t.Errorf("observed %+v", d.seen)
	}
}

// desk is a middleware before a mux, or before a handler of the test's own.
type desk struct {
	conf  Config
	next  http.HandlerFunc
	log   *slog.Logger
	out   locked
	begun int
	seen  []Seen
}

// locked is a buffer that a timer may write to while a test reads.
type locked struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}
func (l *locked) String() string { l.mu.Lock(); defer l.mu.Unlock(); return l.text.String() }
func (l *locked) Len() int       { l.mu.Lock(); defer l.mu.Unlock(); return l.text.Len() }
func (l *locked) Reset()         { l.mu.Lock(); defer l.mu.Unlock(); l.text.Reset() }

func newDesk(t *testing.T, next http.HandlerFunc) *desk {
	t.Helper()
	d := &desk{next: next}
	d.log = slog.New(Log(slog.NewTextHandler(&d.out, nil)))
	d.conf = Config{Log: d.log, Observer: d,
		ClientIP: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.1") }}
	mux := reply.NewMux(slog.New(slog.DiscardHandler),
		reply.Route{Path: "/known/{id}", Methods: []string{"POST"},
			Handle: func(w http.ResponseWriter, _ *http.Request) error {
				w.WriteHeader(201)
				_, err := io.WriteString(w, "hello")
				return err
			}},
		reply.Route{Path: "/{$}", Methods: []string{"GET"}, Handle: func(http.ResponseWriter,
			*http.Request) error {
			return nil
		}},
	)
	if next == nil {
		d.next = mux.ServeHTTP
	}
	return d
}

func (d *desk) Begin()     { d.begun++ }
func (d *desk) End(s Seen) { d.seen = append(d.seen, s) }

func (d *desk) serve(method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	defer func() {
		if p := recover(); p != nil && p != http.ErrAbortHandler {
			panic(p)
		}
	}()
	Front(d.conf)(d.next).ServeHTTP(w, r)
	return w
}
