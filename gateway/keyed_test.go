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

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

const key = "8e03978e-40d5-43e8-bc93-6894a57f9324"

// Decision 86.
func TestARepeatedCallIsChargedOnceAndReachesTheServiceEachTime(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	reached := 0
	h.mux.Handle("/files/", h.gateway.Guard("files", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		reached++
		if got := r.Header.Get("Idempotency-Key"); got != key && got != `"`+key+`"` {
			t.Errorf("the service is sent the key %q", got)
		}
	})))
	for i := range 4 {
		sent := key
		if i%2 == 1 {
			sent = `"` + key + `"`
		}
		h.want(h.call("POST", "/files/x?a=1", bearer, "Idempotency-Key", sent), 200, "a repetition")
	}
	if got := h.used(bearer, "files"); got != 1 || reached != 4 {
		t.Errorf("charged %d times and answered %d times, want 1 and 4", got, reached)
	}
	h.call("POST", "/files/x?a=1", bearer, "Idempotency-Key", key)
	h.call("POST", "/files/x?a=1", bearer, "Idempotency-Key", key)
	if got := h.used(bearer, "files"); got != 3 {
		t.Errorf("charged %d times after the fifth and sixth attempt, want 3: three are free", got)
	}
	if s := h.gateway.Stats(); s.Charged != 3 || s.Repeated != 3 || s.Unremembered != 0 {
		t.Errorf("Stats() = %+v, want 3 charged, 3 repeated", s)
	}
	defer func() {
		marked := 0
		for _, e := range h.trail() {
			if e.Kind == event.Call && e.Detail == event.DetailRepeated {
				marked++
			}
		}
		if marked != 3 {
			t.Errorf("%d calls on the trail are marked as repeated, want 3", marked)
		}
	}()
	if a := h.call("GET", "/api/v1/quota", bearer); a.header.Get("Ratelimit") != `"default";r=51;t=60` { // six calls, and the third question
		t.Errorf("RateLimit is %s: a repetition counts against the rate", a.header.Get("Ratelimit"))
	}
}

func TestAnotherRequestUnderTheSameKeyIsCharged(t *testing.T) {
	h := newFixture(t)
	bearer, body := h.bearer(h.app), strings.Repeat("x", 5000)
	h.mux.Handle("/files/", h.gateway.Guard("files", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
	})))
	send := func(bearer, method, target, body string) {
		h.want(h.send(h.request(method, target, bearer, strings.NewReader(body), "Idempotency-Key", key)), 200, method+" "+target)
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

// What the service answers before it has read the body cannot be told from another request.
func TestABodyThatNobodyReadMakesNoRepetition(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	h.mux.Handle("/files/", h.gateway.Guard("files", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(201) })))
	for range 3 {
		h.want(h.send(h.request("POST", "/files/x", bearer, strings.NewReader("x"), "Idempotency-Key", key)), 201, "a call")
	}
	if got := h.used(bearer, "files"); got != 3 {
		t.Errorf("charged %d times, want 3", got)
	}
}

func TestAnAttemptThatWasNotChargedMakesNoneFree(t *testing.T) {
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
		h.want(h.send(h.request("POST", "/svc/x", bearer, strings.NewReader("x"), "Idempotency-Key", key)), want, "an attempt")
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

func TestAKeyThatIsNoneIsRefusedBeforeTheService(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	for name, keys := range map[string][]string{
		"empty": {""}, "of 10 KB": {strings.Repeat("k", 10<<10)}, "with a control character": {"a\x01b"}, "with a blank": {"a b"},
		"twice": {"a", "a"}, "an open quote": {`"a`}, "a list": {"a,b"},
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
	if got := h.used(bearer, gateway.AI); got != 0 {
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
	if got := h.used(bearer, gateway.AI); got != 4 {
		t.Errorf("charged %d times, want 4", got)
	}
}

func TestAProxyThatAsksChargesARepeatedCallOnceIfItSaysWhichItIs(t *testing.T) {
	h := newFixture(t, func(c *gateway.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")} })
	bearer := h.bearer(h.app)
	ask := func(from, uri, key string) {
		h.want(h.call("GET", "/api/v1/verify?product=ai", bearer, "from", from, "X-Forwarded-Uri", uri, "X-Forwarded-Method", "POST", "Idempotency-Key", key), 200, uri)
	}
	for range 2 {
		ask("192.0.2.1:1", "/chat?a=1", key)
		ask("192.0.2.1:1", "/chat?a=2", key)
	}
	if got := h.used(bearer, gateway.AI); got != 2 {
		t.Errorf("charged %d times, want 2", got)
	}
	for range 2 {
		ask("192.0.2.1:1", "/chat?a=1", "no key") // nginx makes a 500 of a 400
		ask("198.51.100.1:1", "/chat?a=1", key)   // whoever it is, the path is not known
	}
	if got := h.used(bearer, gateway.AI); got != 6 {
		t.Errorf("charged %d times, want 6", got)
	}
}

// Of a client that gives up and tries again one call is charged.
func TestAnAbandonedCallIsChargedOnceWithItsRepetition(t *testing.T) {
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
	h.want(h.send(h.request("POST", "/svc/x", bearer, strings.NewReader("x"), "Idempotency-Key", key)), 200, "the repetition")
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
		for range 2 {
			all.Go(func() { one.call("POST", fmt.Sprint("/ai/200?n=", i), bearer, "Idempotency-Key", key) })
			all.Go(func() { two.call("POST", fmt.Sprint("/ai/200?n=", i), bearer, "Idempotency-Key", key) })
		}
	}
	all.Wait()
	for _, h := range []*fixture{one, two} {
		if err := h.gateway.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	three := newNode(t, b, master)
	if got := three.used(bearer, gateway.AI); got != 10 {
		t.Errorf("10 calls, each four times, were charged %d times", got)
	}
	three.call("POST", "/ai/200?n=0", bearer, "Idempotency-Key", key)
	three.call("POST", "/ai/200?n=10", bearer, "Idempotency-Key", key)
	if got := three.used(bearer, gateway.AI); got != 12 {
		t.Errorf("charged %d times after a fifth attempt and another call, want 12", got)
	}
}

func TestAStoreThatCannotBeAskedChargesEachAttempt(t *testing.T) {
	h := newFixture(t)
	bearer := h.bearer(h.app)
	h.want(h.call("POST", "/ai/200", bearer), 200, "a call, so that the account is known")
	h.backend.refuse("keyedcall")
	for range 3 {
		h.want(h.call("POST", "/ai/200", bearer, "Idempotency-Key", key), 200, "an attempt")
	}
	if got := h.used(bearer, gateway.AI); got != 4 {
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
