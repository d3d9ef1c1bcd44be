package proxies

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// seen is a request as a server in this process got it.
type seen struct {
	method, uri string
	header      http.Header
	body        string
}

// recorder is a server that keeps what it was asked.
type recorder struct {
	address string
	mu      sync.Mutex
	calls   []seen
}

func record(t *testing.T, answer http.HandlerFunc) *recorder {
	t.Helper()
	rec := &recorder{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("%s %s: its body cannot be read: %v", r.Method, r.URL, err)
		}
		rec.mu.Lock()
		rec.calls = append(rec.calls, seen{r.Method, r.RequestURI, r.Header.Clone(), string(body)})
		rec.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	rec.address = server.Listener.Addr().String()
	return rec
}

// take returns the calls since the last take.
func (r *recorder) take() []seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls := r.calls
	r.calls = nil
	return calls
}

// one returns the only call since the last take.
func (r *recorder) one(t *testing.T) seen {
	t.Helper()
	calls := r.take()
	if len(calls) != 1 {
		t.Fatalf("%d calls arrived, want 1: %v", len(calls), calls)
	}
	return calls[0]
}

func (r *recorder) wantNone(t *testing.T) {
	t.Helper()
	if calls := r.take(); len(calls) > 0 {
		t.Errorf("%d calls reached the service, want none: %v", len(calls), calls)
	}
}

func greet(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello from the service") }

// client calls from an address of its own on this machine.
type client struct {
	front, address string
	token          string
}

type answer struct {
	status int
	header http.Header
	body   string
}

// call sends a request with name and value pairs as headers, spelled as they are.
func (c client) call(t *testing.T, method, uri string, body io.Reader, headers ...string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+c.front+uri, body)
	if err != nil {
		t.Fatal(err)
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	for pair := range slices.Chunk(headers, 2) {
		r.Header[pair[0]] = append(r.Header[pair[0]], pair[1])
	}
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(c.address)}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(r) // follows no redirect
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(text)}
}

func (c client) get(t *testing.T, uri string, headers ...string) answer {
	t.Helper()
	return c.call(t, http.MethodGet, uri, nil, headers...)
}

func (a answer) wantPassed(t *testing.T) {
	t.Helper()
	if a.status != http.StatusOK || a.body != "hello from the service" {
		t.Fatalf("answered %d %s, want the service", a.status, a.body)
	}
}

// wantRefused checks a refusal as programs read it: status, envelope and, of some headers,
// exactly one.
func (a answer) wantRefused(t *testing.T, status int, headers ...string) {
	t.Helper()
	var v struct {
		Code    int    `json:"code"`
		ErrCode int    `json:"errcode"`
		Msg     string `json:"msg"`
	}
	if err := json.Unmarshal([]byte(a.body), &v); err != nil || a.status != status || v.Code != status ||
		v.ErrCode != status || v.Msg == "" {
		t.Fatalf("answered %d %s (%v), want %d with its envelope", a.status, a.body, err, status)
	}
	if mime := a.header.Get("Content-Type"); !strings.HasPrefix(mime, "application/json") {
		t.Errorf("the refusal is %q, want JSON", mime)
	}
	if a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("Cache-Control = %q, want that nobody stores a refusal", a.header["Cache-Control"])
	}
	for _, name := range headers {
		values := a.header.Values(name)
		if len(values) == 2 && strings.HasPrefix(values[1], "DPoP ") { // a challenge beside that of Bearer (RFC 9449 7.1)
			values = values[:1]
		}
		if len(values) != 1 || values[0] == "" {
			t.Errorf("%s = %q, want one", name, values)
		}
	}
}
