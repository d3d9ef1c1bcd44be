package mcpbus_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
)

// stream holds what a listener has received.
type stream struct {
	header http.Header
	mu     sync.Mutex
	text   strings.Builder
	status int
	over   bool
	stuck  bool // writes fail from now on

	deadline time.Time // of writes
}

func (s *stream) Header() http.Header { return s.header }
func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}
func (s *stream) Flush() {}
func (s *stream) SetWriteDeadline(at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deadline = at
	return nil
}
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stuck {
		return 0, errAway
	}
	return s.text.Write(p)
}

// got returns what was received since it was asked last, and whether the stream is over.
func (s *stream) got() (text string, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text = s.text.String()
	s.text.Reset()
	return text, s.over
}

const listenTools = `"notifications":{"toolsListChanged":true}`

// listen opens a stream. It must run in a synctest bubble.
func (h *fixture) listen(ctx context.Context, params string, headers ...string) *stream {
	s := &stream{header: http.Header{}}
	r := request(ctx, modernBody("subscriptions/listen", params),
		append(modernHeaders("subscriptions/listen", ""), headers...)...)
	go func() {
		h.bus.ServeHTTP(s, r)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.over = true
	}()
	synctest.Wait()
	return s
}

const (
	acknowledged = `event: message` + "\n" + `data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{"toolsListChanged":true}}}` + "\n\n"
	changed      = `event: message` + "\n" + `data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}` + "\n\n"
	ended        = `event: message` + "\n" + `data: {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":1}}}` + "\n\n"
	alive        = ": alive\n\n"
)

func (s *stream) want(t *testing.T, what, text string, over bool) {
	t.Helper()
	synctest.Wait()
	if got, isOver := s.got(); got != text || isOver != over {
		t.Errorf("%s: %q, over %t; want %q, %t", what, got, isOver, text, over)
	}
}

// bubble runs a test with a fixture in a bubble.
func bubble(t *testing.T, test func(*testing.T, *fixture), edits ...func(*mcpbus.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newFixture(t, edits...)) })
}

func TestListenersAreNotifiedOfChanges(t *testing.T) {
	bubble(t, func(t *testing.T, h *fixture) {
		s := h.listen(t.Context(), listenTools)
		s.want(t, "first", acknowledged, false)
		if s.status != 200 || s.header.Get("Content-Type") != "text/event-stream" ||
			s.header.Get("X-Accel-Buffering") != "no" || s.header.Get("Cache-Control") != "no-store" {
			t.Errorf("it is %d %v", s.status, s.header)
		}
		h.reload()
		s.want(t, "without a change", "", false)
		h.register(capability("maths", "https://maths.example.com"), rest("get", "sum"))
		h.reload()
		s.want(t, "after a registration", changed, false)
		h.register(capability("maths", "https://elsewhere.example.com"), rest("get", "sum"))
		h.reload()
		s.want(t, "after a change that no list shows", "", false)
		h.register(capability("maths", "https://maths.example.com"), rest("get", "add"))
		time.Sleep(5 * time.Second)
		s.want(t, "after another process registered", changed, false)
	})
}

func TestStreamSaysThatItIsAlive(t *testing.T) {
	bubble(t, func(t *testing.T, h *fixture) {
		s := h.listen(t.Context(), listenTools)
		s.got()
		time.Sleep(time.Minute)
		s.want(t, "in a minute", alive+alive+alive, false)
		if in := time.Until(s.deadline); in != 10*time.Second {
			t.Errorf("a write may take until %v from now, want 10 s", in)
		}
	})
}

func TestStreamEndsWithItsToken(t *testing.T) {
	bubble(t, func(t *testing.T, h *fixture) {
		h.tokens.give("short", storage.Caller{AppID: "app1", Scope: "app", Audience: issuer}, 30*time.Second)
		s := h.listen(t.Context(), listenTools, "Authorization", "Bearer short")
		time.Sleep(30*time.Second - 1)
		s.want(t, "until it expires", acknowledged+alive, false)
		time.Sleep(time.Nanosecond)
		s.want(t, "when it expires", ended, true)

		s = h.listen(t.Context(), listenTools)
		h.tokens.revoke("app")
		time.Sleep(20 * time.Second)
		s.want(t, "after it was revoked", acknowledged+ended, true)
	})
}

func TestStreamEndsWithTheBus(t *testing.T) {
	bubble(t, func(t *testing.T, h *fixture) {
		s, other := h.listen(t.Context(), listenTools), h.listen(t.Context(), listenTools)
		if err := h.bus.Close(context.Background()); err != nil {
			t.Error(err)
		}
		s.want(t, "at Close", acknowledged+ended, true)
		other.want(t, "at Close", acknowledged+ended, true)
		if !s.deadline.IsZero() {
			t.Errorf("the connection is left with a deadline: %v", s.deadline)
		}
		late := h.listen(t.Context(), listenTools)
		if late.status != 503 || late.header.Get("Retry-After") == "" {
			t.Errorf("a stream after Close = %d %v", late.status, late.header)
		}
		if a := h.legacy("tools/call", getPet); a.status != 200 || a.code() != 0 {
			t.Errorf("a call that was under way at Close = %d %s", a.status, a.text)
		}
	})
}

func TestStreamThatNobodyReadsEnds(t *testing.T) {
	bubble(t, func(t *testing.T, h *fixture) {
		ctx, leave := context.WithCancel(t.Context())
		s := h.listen(ctx, listenTools)
		leave()
		s.want(t, "after its client left", acknowledged, true)

		s = h.listen(t.Context(), listenTools)
		s.mu.Lock()
		s.stuck = true
		s.mu.Unlock()
		time.Sleep(20 * time.Second)
		s.want(t, "after a write that failed", acknowledged, true)
	})
}

func TestStreamsOfACallerAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T, h *fixture) {
		ctx, leave := context.WithCancel(t.Context())
		for range 4 {
			h.listen(ctx, listenTools)
		}
		s := h.listen(t.Context(), listenTools)
		text, over := s.got()
		if s.status != 429 || s.header.Get("Retry-After") == "" || !over || !strings.Contains(text, `"id":1,`) || !strings.Contains(text, `"errcode":429`) {
			t.Errorf("the fifth = %d %v %s", s.status, s.header, text)
		}
		h.listen(t.Context(), listenTools, "Authorization", "Bearer user").want(t, "somebody else's", acknowledged, false)
		leave()
		synctest.Wait()
		h.listen(t.Context(), listenTools).want(t, "once they are gone", acknowledged, false)
	})
}

func TestListenDoesNotAcknowledgeWhatIsNotOffered(t *testing.T) {
	bubble(t, func(t *testing.T, h *fixture) {
		nothing := strings.Replace(acknowledged, `"toolsListChanged":true`, "", 1) + ended
		for _, filter := range []string{`{}`, `{"promptsListChanged":true,"resourceSubscriptions":["x"]}`, `{"toolsListChanged":false}`, `{"toolsListChanged":"true"}`} {
			h.listen(t.Context(), `"notifications":`+filter).want(t, filter, nothing, true)
		}
		for _, params := range []string{"", `"notifications":true`, `"Notifications":{}`} {
			if a := h.modern("subscriptions/listen", params); a.status != 400 || a.code() != -32602 {
				t.Errorf("%q = %d %s", params, a.status, a.text)
			}
		}
	})
}
