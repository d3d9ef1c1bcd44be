package restcall

import (
	"context"
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/storage/toolplan"
)

// upstream is an HTTP server for tests that remembers what it was asked.
type upstream struct {
	server *httptest.Server
	answer http.HandlerFunc

	mu   sync.Mutex
	seen []*sent
}

// sent is one request as it arrived.
type sent struct {
	method, url string // url with the scheme and the host that the client asked for
	header      http.Header
	body        string
}

func serve(t testing.TB, https bool, answer http.HandlerFunc) *upstream {
	t.Helper()
	u := &upstream{answer: answer}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		scheme := "http://"
		if r.TLS != nil {
			scheme = "https://"
		}
		u.mu.Lock()
		u.seen = append(u.seen, &sent{r.Method, scheme + r.Host + r.RequestURI, r.Header, string(body)})
		u.mu.Unlock()
		u.answer(w, r)
	})
	u.server = httptest.NewUnstartedServer(handler)
	u.server.Config.ErrorLog = quiet
	if https {
		u.server.StartTLS()
	} else {
		u.server.Start()
	}
	t.Cleanup(u.server.Close)
	return u
}

func (u *upstream) requests() []*sent {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.seen
}

// only returns the one request that arrived.
func (u *upstream) only(t *testing.T) *sent {
	t.Helper()
	all := u.requests()
	if len(all) != 1 {
		t.Fatalf("%d requests arrived, want 1", len(all))
	}
	return all[0]
}

// transport reaches the server for one host of the test and is guarded for all others.
func (u *upstream) transport(t testing.TB, host string, others *netguard.Guard) http.RoundTripper {
	t.Helper()
	own := &http.Transport{MaxIdleConnsPerHost: 256}
	own.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", u.server.Listener.Addr().String())
	}
	if u.server.TLS != nil {
		roots := u.server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		own.TLSClientConfig = &tls.Config{RootCAs: roots, ServerName: "example.com"} // its certificate's name
	}
	t.Cleanup(own.CloseIdleConnections)
	return roundTrip(func(r *http.Request) (*http.Response, error) {
		if others != nil && r.URL.Hostname() != host {
			return others.Transport().RoundTrip(r)
		}
		return own.RoundTrip(r)
	})
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// caller makes a Caller whose every call goes to the server.
func (u *upstream) caller(t testing.TB, c Config) *Caller {
	t.Helper()
	c.Transport = u.transport(t, "", nil)
	return newCaller(t, c)
}

func newCaller(t testing.TB, c Config) *Caller {
	t.Helper()
	caller, err := New(c)
	if err != nil {
		t.Fatalf("New() = %v, want no error", err)
	}
	return caller
}

func compile(t testing.TB, tool toolplan.Tool) *Plan {
	t.Helper()
	p, err := Compile(tool)
	if err != nil {
		t.Fatalf("Compile() = %v, want no error", err)
	}
	return p
}

// texts joins the text blocks of a result.
func texts(r Result) string {
	var out []string
	for _, c := range r.Content {
		out = append(out, c.Text)
	}
	return strings.Join(out, "\n")
}

// quiet keeps the complaints of servers about planted failures out of the output.
var quiet = log.New(io.Discard, "", 0)

const base = "http://api.example.test/v1"

// answers writes a fixed answer; header holds names and values in turn.
func answers(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}
