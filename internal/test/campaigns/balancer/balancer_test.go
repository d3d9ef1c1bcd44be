package balancer

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// upstream is a node that is ready or not, counts what it is sent, and breaks connections if it is told.
type upstream struct {
	*httptest.Server
	ready, breaks atomic.Bool
	asked         atomic.Int32
}

func newUpstream(t *testing.T) *upstream {
	u := &upstream{}
	u.ready.Store(true)
	u.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/healthz/ready" && !u.ready.Load():
			w.WriteHeader(http.StatusServiceUnavailable)
		case r.URL.Path == "/healthz/ready":
		default:
			u.asked.Add(1)
			if body, err := io.ReadAll(r.Body); u.breaks.Load() || err != nil || r.Method == http.MethodPost &&
				string(body) != "body" {
				panic(http.ErrAbortHandler)
			}
		}
	}))
	t.Cleanup(u.Close)
	return u
}

func (u *upstream) address() string { return strings.TrimPrefix(u.URL, "http://") }

// started is a balancer that has looked at all nodes.
func started(t *testing.T, nodes ...*upstream) *Balancer {
	t.Helper()
	var all []string
	for _, n := range nodes {
		all = append(all, n.address())
	}
	b := New(all...)
	t.Cleanup(b.Close)
	for i := range nodes {
		becomes(t, b, i, true)
	}
	return b
}

func becomes(t *testing.T, b *Balancer, i int, ready bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); b.Ready(i) != ready; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("node %d does not become ready = %v", i, ready)
		}
	}
}

func ask(b *Balancer, method string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, "http://balancer/x", http.NoBody)
	if method == http.MethodPost {
		r = httptest.NewRequest(method, "http://balancer/x", strings.NewReader("body"))
	}
	b.ServeHTTP(w, r)
	return w
}

func TestRequestsGoRoundAmongNodesThatAreReady(t *testing.T) {
	a, b := newUpstream(t), newUpstream(t)
	all := started(t, a, b)
	for range 4 {
		ask(all, http.MethodPost)
	}
	if a.asked.Load() != 2 || b.asked.Load() != 2 {
		t.Errorf("the nodes were asked %d and %d times", a.asked.Load(), b.asked.Load())
	}
	b.ready.Store(false)
	becomes(t, all, 1, false)
	for range 4 {
		if w := ask(all, http.MethodPost); w.Header().Get(NodeHeader) != "0" {
			t.Errorf("a node that is not ready is asked: %v", w.Header())
		}
	}
}

func TestBalancerRepeatsOnlySafeRequests(t *testing.T) {
	a, b := newUpstream(t), newUpstream(t)
	all := started(t, a, b)
	a.breaks.Store(true)
	for range 4 {
		if w := ask(all, http.MethodGet); w.Code != http.StatusOK {
			t.Errorf("a GET that one node breaks off is answered %d", w.Code)
		}
	}
	a.asked.Store(0)
	b.asked.Store(0)
	cut := 0
	for range 4 {
		if ask(all, http.MethodPost).Header().Get(CutHeader) != "" {
			cut++
		}
	}
	if cut != 2 || a.asked.Load() != 2 || b.asked.Load() != 2 {
		t.Errorf("of 4 POST %d fail, and the nodes were asked %d and %d times", cut, a.asked.Load(), b.asked.Load())
	}
}

func TestNodeThatIsGoneIsPassedOverAtOnce(t *testing.T) {
	a, b := newUpstream(t), newUpstream(t)
	all := started(t, a, b)
	b.Close()
	for range 4 {
		if w := ask(all, http.MethodPost); w.Code != http.StatusOK {
			t.Errorf("a request is answered %d %v", w.Code, w.Header())
		}
	}
}
