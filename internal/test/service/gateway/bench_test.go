package gateway_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"testing"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/gateway/billing"
)

// null is a response that goes nowhere.
type null struct{ header http.Header }

func (n *null) Header() http.Header         { return n.header }
func (n *null) Write(p []byte) (int, error) { return len(p), nil }
func (n *null) WriteHeader(int)             {}

// busy are plans whose rate is kept but never reached.
func busy(c *gateway.Config) {
	c.Plans = billing.Plans()
	for i := range c.Plans {
		c.Plans[i].PerMinute = 1 << 30
	}
}

// BenchmarkCheck measures a call without its service: token, rate, charge, journal and
// audit trail, behind Front as in the program (goal: 1.2 us, 1.5 us with the journal, 2 allocations).
func BenchmarkCheck(b *testing.B) {
	service := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	for name, journal := range map[string]string{"journal": b.TempDir() + "/usage", "memory": ""} {
		b.Run(name, func(b *testing.B) {
			h := newFixture(b, busy, func(c *gateway.Config) { c.Journal = journal })
			handler := h.gateway.Front(h.gateway.Guard(gateway.ProductAI, service))
			measure(b, handler, h.bearer(h.app))
		})
	}
	b.Run("floor", func(b *testing.B) { measure(b, service, "x") })
}

func measure(b *testing.B, handler http.Handler, bearer string) {
	r := httptest.NewRequest("GET", "/ai/x", nil)
	r.Header.Set("Authorization", "Bearer "+bearer)
	r.Header.Set("X-Request-Id", "benchmark")
	w := &null{http.Header{}}
	handler.ServeHTTP(w, r)
	b.ReportAllocs()
	for b.Loop() {
		handler.ServeHTTP(w, r)
	}
}

// BenchmarkProxy is a call through the gateway beside the same call through a ReverseProxy
// that is tuned alike and checks nothing, and beside the service itself (goal: 0.95 of the
// proxy).
func BenchmarkProxy(b *testing.B) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"answer":"a service's answer, of about eighty bytes, as services are used to give"}`))
	}))
	defer upstream.Close()
	h := newFixture(b, busy, func(c *gateway.Config) { c.Journal = b.TempDir() + "/usage" })
	guarded := must(h.gateway.Proxy(gateway.Upstream{Product: "svc", URL: upstream.URL, Strip: "/svc"}))(b)
	target := must(url.Parse(upstream.URL))(b)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost, transport.DisableCompression = 1024, true
	plain := &httputil.ReverseProxy{
		Rewrite:   func(p *httputil.ProxyRequest) { p.SetURL(target); p.SetXForwarded() },
		Transport: transport, BufferPool: pool{make(chan []byte, 64)},
	}
	for name, front := range map[string]http.Handler{"gateway": h.gateway.Front(guarded), "reverse proxy": plain,
		"direct": nil} {
		b.Run(name, func(b *testing.B) {
			to := upstream.URL + "/x"
			if front != nil {
				server := httptest.NewServer(front)
				defer server.Close()
				to = server.URL + "/svc/x"
			}
			bearer := "Bearer " + h.bearer(h.app)
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
			defer client.CloseIdleConnections()
			b.ReportAllocs()
			for b.Loop() {
				r, _ := http.NewRequest("GET", to, nil)
				r.Header.Set("Authorization", bearer)
				resp, err := client.Do(r)
				if err != nil || resp.StatusCode != 200 {
					b.Fatal(err, resp)
				}
				resp.Body.Close()
			}
		})
	}
}

type pool struct{ free chan []byte }

func (p pool) Get() []byte {
	select {
	case b := <-p.free:
		return b
	default:
		return make([]byte, 32<<10)
	}
}

func (p pool) Put(b []byte) {
	select {
	case p.free <- b:
	default:
	}
}

// BenchmarkKeyed is a call with an Idempotency-Key beside one without: the first under a key, and a
// repetition. KEYSTILE_TEST_STORAGE=postgres asks a database.
func BenchmarkKeyed(b *testing.B) {
	service := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	for name, next := range map[string]func(i int) string{
		"none": nil, "first": strconv.Itoa, "repeated": func(i int) string { return strconv.Itoa(i / 100) },
	} {
		b.Run(name, func(b *testing.B) {
			h := newFixture(b, busy, func(c *gateway.Config) { c.FreeRepeats = 100 })
			handler := h.gateway.Front(h.gateway.Guard(gateway.ProductAI, service))
			r := httptest.NewRequest("POST", "/ai/x", nil)
			r.Header.Set("Authorization", "Bearer "+h.bearer(h.app))
			r.Header.Set("X-Request-Id", "benchmark")
			w, i := &null{http.Header{}}, 0
			b.ReportAllocs()
			for b.Loop() {
				if i++; next != nil {
					r.Header.Set("Idempotency-Key", next(i))
				}
				handler.ServeHTTP(w, r)
			}
		})
	}
}
