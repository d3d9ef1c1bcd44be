package gateway_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

const key = "8e03978e-40d5-43e8-bc93-6894a57f9324"

// Decision 86.
func TestRepeatedCallIsChargedOnceAndReachesTheServiceEachTime(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	reached := 0
	h.mux.Handle("/files/", h.gateway.Guard("files", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached++
		if got := r.Header.Get("Idempotency-Key"); got != key && got != `"`+key+`"` {
			t.Errorf("the service is sent the key %q", got)
		}
	})))
	for i := range 2 {
		sent := key
		if i%2 == 1 {
			sent = `"` + key + `"`
		}
		h.want(h.call("POST", "/files/x?a=1", bearer, "Idempotency-Key", sent), 200, "a repetition")
	}
	if got := h.used(bearer, "files"); got != 1 || reached != 2 {
		t.Errorf("charged %d times and answered %d times, want 1 and 2", got, reached)
	}
	h.call("POST", "/files/x?a=1", bearer, "Idempotency-Key", key)
	h.call("POST", "/files/x?a=1", bearer, "Idempotency-Key", key)
	if got := h.used(bearer, "files"); got != 3 {
		t.Errorf("charged %d times after the third and fourth attempt, want 3: one is free", got)
	}
	if s := h.gateway.Stats(); s.Charged != 3 || s.Repeated != 1 || s.Unremembered != 0 {
		t.Errorf("Stats() = %+v, want 3 charged, 1 repeated", s)
	}
	defer func() {
		marked := 0
		for _, e := range h.trail() {
			if e.Kind == event.Call && e.Detail == event.DetailRepeated {
				marked++
			}
		}
		if marked != 1 {
			t.Errorf("%d calls on the trail are marked as repeated, want 1", marked)
		}
	}()
	if a := h.call("GET", "/api/v1/quota", bearer); a.header.Get("Ratelimit") != `"default";r=53;t=60` { // four calls, and the third question
		t.Errorf("RateLimit is %s: a repetition counts against the rate", a.header.Get("Ratelimit"))
	}
}

func TestIdempotencyKeyOnAnotherRequestIsCharged(t *testing.T) {
	h := newFixture(t)
	bearer, body := h.bearer(h.app), strings.Repeat("x", 5000)
	h.mux.Handle("/files/", h.gateway.Guard("files", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
	})))
	send := func(bearer, method, target, body string) {
		h.want(h.send(h.request(method, target, bearer, strings.NewReader(body), "Idempotency-Key", key)), 200,
			method+" "+target)
	}
	for range 2 {
		send(bearer, "POST", "/files/x", body)
		send(bearer, "PUT", "/files/x", body)
		send(bearer, "POST", "/files/y", body)
		send(bearer, "POST", "/files/x?a=1", body)
		send(bearer, "POST", "/files/x", body[1:]+"y")
	}
	if got := h.used(bearer, "files"); got != 5 {
		t.Errorf("charged %d times, want 5: each is another request", got)
	}
	send(h.userBearer(), "POST", "/files/x", body)
	if got := h.used(bearer, "files"); got != 6 {
		t.Errorf("charged %d times, want 6: a user of the application calls for themselves", got)
	}
	other := h.bearer(h.other)
	send(other, "POST", "/files/x", body)
	if got := h.used(other, "files"); got != 1 {
		t.Errorf("another application is charged %d times, want 1: the key is not its own", got)
	}
}

// A request that the service answers before it has read the body cannot be told from another one.
func TestBodyThatNobodyReadMakesNoRepetition(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	h.mux.Handle("/files/", h.gateway.Guard("files",
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(201) })))
	for range 3 {
		h.want(h.send(h.request("POST", "/files/x", bearer, strings.NewReader("x"), "Idempotency-Key", key)), 201, "a call")
	}
	if got := h.used(bearer, "files"); got != 3 {
		t.Errorf("charged %d times, want 3", got)
	}
}

func TestAttemptThatWasNotChargedMakesNoneFree(t *testing.T) {
	h := newFixture(t)
	var service atomic.Int64 // 0: it is down
	bearer := behind(t, h, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if service.Load() == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(int(service.Load()))
	})
	send := func(want int) {
		t.Helper()
		h.want(h.send(h.request("POST", "/svc/x", bearer, strings.NewReader("x"), "Idempotency-Key", key)), want,
			"an attempt")
	}
	send(502)
	service.Store(401)
	send(401)
	service.Store(429)
	send(429)
	if got := h.used(bearer, "svc"); got != 0 {
		t.Fatalf("charged %d times, want 0", got)
	}
	service.Store(503)
	send(503)
	service.Store(200)
	send(200)
	if got := h.used(bearer, "svc"); got != 1 {
		t.Errorf("charged %d times, want 1: for the service's own failure, which the repetition mends", got)
	}
}

func TestKeyThatIsNoneIsRefusedBeforeTheService(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	for name, keys := range map[string][]string{
		"empty": {""}, "of 10 KB": {strings.Repeat("k", 10<<10)}, "with a control character": {"a\x01b"},
		"with a blank": {"a b"},
		"twice":        {"a", "a"}, "an open quote": {`"a`}, "a list": {"a,b"},
	} {
		var headers []string
		for _, k := range keys {
			headers = append(headers, "Idempotency-Key", k)
		}
		a := h.want(h.call("POST", "/ai/200", bearer, headers...), 400, name)
		if a.number("errcode") != 400 || !strings.Contains(a.text, "Idempotency-Key") {
			t.Errorf("%s: %s, want what is wrong", name, a.text)
		}
		h.want(h.call("POST", "/ai/200", "", headers...), 401, name+", of nobody")
		h.want(h.call("GET", "/api/v1/quota", bearer, headers...), 200, name+", where nothing is charged")
	}
	if got := h.used(bearer, gateway.ProductAI); got != 0 {
		t.Errorf("charged %d times, want 0", got)
	}
}

func TestKeysCanBeLeftAlone(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.FreeRepeats = -1 })
	bearer := h.bearer(h.app)
	for range 2 {
		h.want(h.call("POST", "/ai/200", bearer, "Idempotency-Key", key), 200, "a call")
		h.want(h.call("POST", "/ai/200", bearer, "Idempotency-Key", "a b"), 200, "a call with a key that is none")
	}
	if got := h.used(bearer, gateway.ProductAI); got != 4 {
		t.Errorf("charged %d times, want 4", got)
	}
}

// A call that a proxy asks about is known without its body, so a call that may have one, or that is not
// described, is not free.
func TestProxyThatAsksChargesARepeatedCallOnceIfItSaysAllOfIt(t *testing.T) {
	const proxy, uri = "192.0.2.1:1", "/chat?a=1"
	told := func(method string, more ...string) []string {
		return append([]string{"from", proxy, "X-Forwarded-Uri", uri, "X-Forwarded-Method", method, "Idempotency-Key", key},
			more...)
	}
	for name, c := range map[string]struct {
		headers []string
		want    int64 // of two questions
	}{
		"a GET":                  {told("GET"), 1},
		"a HEAD":                 {told("HEAD"), 1},
		"a POST":                 {told("POST"), 2},
		"a PUT":                  {told("PUT"), 2},
		"a DELETE":               {told("DELETE"), 2},
		"an OPTIONS":             {told("OPTIONS"), 2},
		"an unknown method":      {told("QUERY"), 2},
		"a GET in small letters": {told("get"), 2},
		"two methods":            {told("GET", "X-Forwarded-Method", "POST"), 2},
		"no method":              {[]string{"from", proxy, "X-Forwarded-Uri", uri, "Idempotency-Key", key}, 2},
		"no path":                {[]string{"from", proxy, "X-Forwarded-Method", "GET", "Idempotency-Key", key}, 2},
		"not a trusted proxy":    {append(told("GET"), "from", "198.51.100.1:1"), 2},
		"a GET with a type":      {told("GET", "Content-Type", "application/json"), 2},
		"a WebSocket":            {told("GET", "Sec-WebSocket-Key", wsKey), 2},
		"an upgrade":             {told("GET", "Upgrade", "websocket"), 2},
		"events":                 {told("GET", "Accept", "text/html", "Accept", "text/event-stream"), 2},
		"a key that is none, of which nginx would make a 500": {[]string{"from", proxy, "X-Forwarded-Uri", uri,
			"X-Forwarded-Method", "GET", "Idempotency-Key", "no key"}, 2},
	} {
		h := newFixture(t, func(c *gateway.Config) {
			c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
		})
		bearer := h.bearer(h.app)
		for i := range 2 {
			h.want(h.call("GET", "/api/v1/verify?product=ai", bearer,
				append(c.headers, "X-Request-Id", fmt.Sprint("of-nginx-", i))...), 200, name)
		}
		if got := h.used(bearer, gateway.ProductAI); got != c.want {
			t.Errorf("%s: charged %d times, want %d", name, got, c.want)
		}
	}
}

func TestProxyThatAsksAboutAnotherRequestUnderTheSameKeyIsCharged(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	})
	bearer := h.bearer(h.app)
	for i, more := range [][]string{
		{"X-Forwarded-Uri", "/chat?a=1"}, {"X-Forwarded-Uri", "/chat?a=2"},
		{"X-Forwarded-Uri", "/chat?a=1", "Range", "bytes=0-9"},
		{"X-Forwarded-Uri", "/chat?a=1", "X-Forwarded-Host", "other.example"},
	} {
		h.want(h.call("GET", "/api/v1/verify?product=ai", bearer, append(more, "from", "192.0.2.1:1", "X-Forwarded-Method",
			"GET", "Idempotency-Key", key)...), 200, "a question")
		if got := h.used(bearer, gateway.ProductAI); got != int64(i+1) {
			t.Errorf("charged %d times after %q, want %d", got, more, i+1)
		}
	}
}

// All that a service may answer by is a part of the call, however little of it the service reads.
func TestRequestThatDiffersInAHeaderIsCharged(t *testing.T) {
	seen := map[string]func(t *testing.T) (*fixture, string){
		"proxy": func(t *testing.T) (*fixture, string) {
			h := newFixture(t)
			return h, behind(t, h, func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
		},
		"guard": func(t *testing.T) (*fixture, string) {
			h := newFixture(t)
			h.svc = h.gateway.Guard("svc",
				http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }))
			return h, h.bearer(h.app)
		},
	}
	for at, open := range seen {
		t.Run(at, func(t *testing.T) {
			h, bearer := open(t)
			send := func(more ...string) {
				r := h.request("POST", "/svc/x", bearer, strings.NewReader("x"), append(more, "Idempotency-Key", key)...)
				if len(more) == 2 && more[0] == "Host" {
					r.Host = more[1]
				}
				h.want(h.send(r), 200, fmt.Sprint(more))
			}
			send()
			for i, more := range [][]string{
				{"X-Model", "large"}, {"X-Model", "small"}, {"X-Model", "small", "X-Model", "large"},
				{"X-Model", "large", "X-Model", "small"},
				{"X-Prompt", "one"}, {"X-Prompt", ""}, {"Range", "bytes=0-9"}, {"Range", "bytes=10-19"}, {"Accept", "text/plain"},
				{"Accept-Language", "zh"},
				{"Cookie", "a=1"}, {"Content-Type", "text/plain"}, {"If-None-Match", "x"},
				{"User-Agent", "other"}, {"Host", "other.example.com"}, {"X-Request-Id", "what-is-two-and-two"},
				{"X-Request-Id", "what-is-two-and-three"},
			} {
				if send(more...); h.used(bearer, "svc") != int64(i+2) {
					t.Fatalf("charged %d times after %q, want %d", h.used(bearer, "svc"), more, i+2)
				}
			}
		})
		t.Run(at+", what differs by itself", func(t *testing.T) {
			for _, more := range [][]string{
				{"Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}, {"Tracestate", "a=1"},
				{"Baggage", "a=1"}, {"B3", "1"}, {"X-B3-Traceid", "1"},
				{"Date", "Thu, 26 Nov 2026 10:00:00 GMT"}, {"Keep-Alive", "timeout=5"}, {"X-Request-Id", "not an id"},
			} {
				h, bearer := open(t)
				for _, with := range [][]string{nil, more} {
					h.want(h.send(h.request("POST", "/svc/x", bearer, strings.NewReader("x"),
						append(with, "Idempotency-Key", key)...)), 200, fmt.Sprint(more))
				}
				if got := h.used(bearer, "svc"); got != 1 {
					t.Errorf("with %q: charged %d times, want 1", more, got)
				}
			}
		})
	}
}

// A client may have had its token renewed between two attempts; what that lets it do is told to the service.
func TestRepetitionWithANewTokenIsFreeIfTheServiceSeesNoOther(t *testing.T) {
	h := newFixture(t)
	h.svc = h.gateway.Guard("svc", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	first := h.bearer(h.app)
	for _, bearer := range []string{first, h.bearer(h.app)} {
		h.want(h.call("GET", "/svc/x", bearer, "Idempotency-Key", key), 200, "an attempt")
	}
	if got := h.used(first, "svc"); got != 1 {
		t.Errorf("charged %d times, want 1", got)
	}
	h.want(h.call("GET", "/svc/x", h.bearer(h.app, "scope", "apps"), "Idempotency-Key", key), 200,
		"an attempt with another scope")
	if got := h.used(first, "svc"); got != 2 {
		t.Errorf("charged %d times, want 2: the service may answer by the scope", got)
	}
}

func TestWebSocketUnderAKeyIsChargedEachTime(t *testing.T) {
	for at, guard := range map[string]bool{"proxy": false, "guard": true} {
		h := newFixture(t)
		service := newSockets()
		bearer := behind(t, h, service.ServeHTTP)
		if guard {
			h.svc = h.gateway.Guard("svc", service)
		}
		for range 3 {
			conn, in := raw(t, h.open().Listener.Addr().String(), handshake(bearer, "Idempotency-Key: "+key+"\r\n"))
			if resp := must(http.ReadResponse(in, nil))(t); resp.StatusCode != 101 {
				t.Fatalf("%s: answered %d", at, resp.StatusCode)
			}
			conn.Close()
		}
		if got := h.used(bearer, "svc"); got != 3 {
			t.Errorf("%s: charged %d times, want 3", at, got)
		}
	}
}

// A stream that is opened a second time is no lost answer.
func TestRepetitionThatGoesOnIsChargedAfterAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t, busy)
		bearer := h.bearer(h.app)
		h.mux.Handle("/files/", h.gateway.Guard("files", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(200)
			took, _ := time.ParseDuration(r.URL.Query().Get("took"))
			time.Sleep(took)
		})))
		for _, took := range []string{"50s", "70s"} {
			before := h.used(bearer, "files")
			for range 2 {
				h.want(h.call("GET", "/files/x?took="+took, bearer, "Idempotency-Key", key), 200, "a call")
			}
			if got, want := h.used(bearer, "files")-before, map[string]int64{"50s": 1, "70s": 2}[took]; got != want {
				t.Errorf("an answer of %s: charged %d times, want %d", took, got, want)
			}
		}
		marked := 0
		for _, e := range h.trail() {
			if e.Detail == event.DetailRepeated {
				marked++
			}
		}
		if marked != 1 {
			t.Errorf("%d calls on the trail are marked as repeated, want 1", marked)
		}
	})
}

// Of a client that gives up and tries again one call is charged.
func TestAbandonedCallIsChargedOnceWithItsRepetition(t *testing.T) {
	h := newFixture(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var arrived atomic.Int64
	bearer := behind(t, h, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if got := r.Header.Values("Idempotency-Key"); len(got) != 1 || got[0] != key {
			t.Errorf("the service is sent the key %q", got)
		}
		if arrived.Add(1) == 1 {
			cancel()
			<-r.Context().Done()
		}
	})
	r := h.request("POST", "/svc/x", bearer, strings.NewReader("x"), "Idempotency-Key", key)
	h.send(r.WithContext(ctx))
	if got := h.used(bearer, "svc"); got != 1 {
		t.Fatalf("the abandoned call was charged %d times, want 1", got)
	}
	h.want(h.send(h.request("POST", "/svc/x", bearer, strings.NewReader("x"), "Idempotency-Key", key)), 200,
		"the repetition")
	if got := h.used(bearer, "svc"); got != 1 || arrived.Load() != 2 {
		t.Errorf("charged %d times for %d attempts, want 1 for 2", got, arrived.Load())
	}
}

// Decisions 71 and 86: nodes share the store and nothing else, and one of them is started anew.
func TestNodesOfOneStoreChargeARepeatedCallOnce(t *testing.T) {
	b, master := backend.New(t), storage.NewMasterKey()
	one := newNode(t, b, master)
	one.apps()
	two := newNode(t, b, master)
	bearer := one.bearer(one.app)
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() { one.call("POST", fmt.Sprint("/ai/200?n=", i), bearer, "Idempotency-Key", key) })
		all.Go(func() { two.call("POST", fmt.Sprint("/ai/200?n=", i), bearer, "Idempotency-Key", key) })
	}
	all.Wait()
	for _, h := range []*fixture{one, two} {
		if err := h.gateway.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	three := newNode(t, b, master)
	if got := three.used(bearer, gateway.ProductAI); got != 10 {
		t.Errorf("10 calls, each twice, were charged %d times", got)
	}
	three.call("POST", "/ai/200?n=0", bearer, "Idempotency-Key", key)
	three.call("POST", "/ai/200?n=10", bearer, "Idempotency-Key", key)
	if got := three.used(bearer, gateway.ProductAI); got != 12 {
		t.Errorf("charged %d times after a third attempt and another call, want 12", got)
	}
}

func TestStoreThatCannotBeAskedChargesEachAttempt(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	h.want(h.call("POST", "/ai/200", bearer), 200, "a call, so that the account is known")
	h.backend.refuse("keyedcall")
	for range 3 {
		h.want(h.call("POST", "/ai/200", bearer, "Idempotency-Key", key), 200, "an attempt")
	}
	if got := h.used(bearer, gateway.ProductAI); got != 4 {
		t.Errorf("charged %d times, want 4", got)
	}
	if s := h.gateway.Stats(); s.Unremembered != 3 {
		t.Errorf("Stats() = %+v, want 3 unremembered", s)
	}
}

// refuse makes writes of a kind fail.
func (f *faulty) refuse(kind string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused = kind
}

func (f *faulty) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	f.mu.Lock()
	refused := f.refused
	f.mu.Unlock()
	for _, d := range docs {
		if d.Kind == refused {
			return 0, context.DeadlineExceeded
		}
	}
	return f.Backend.Put(ctx, docs...)
}
