package mcpbus_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
)

// hung is an upstream that never answers, and knows which calls have ended before they were
// answered.
type hung struct {
	mu    sync.Mutex
	ended []string
}

func (u *hung) call(ctx context.Context, _ string, arguments json.RawMessage) (mcpbus.Result, error) {
	<-ctx.Done()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended = append(u.ended, string(arguments))
	return mcpbus.Result{}, context.Cause(ctx)
}

func (u *hung) want(t *testing.T, what string, ended ...string) {
	t.Helper()
	synctest.Wait() // no time passes
	u.mu.Lock()
	defer u.mu.Unlock()
	if fmt.Sprint(u.ended) != fmt.Sprint(ended) {
		t.Errorf("%s: the upstream saw %v end, want %v", what, u.ended, ended)
	}
	u.ended = nil
}

// calling is a call with an id, whose argument is the id too, so that it can be told apart.
func calling(id string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"pets__getPet","arguments":{"id":` + id + `}}}`
}

func cancelling(id string) string {
	return `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"the user pressed stop"}}`
}

func with(headers []string, more ...string) []string {
	return append(headers[:len(headers):len(headers)], more...)
}

func TestCancelledCallEndsAtTheUpstreamAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		id, cancels, accept string
		streams             bool
	}{
		"a number":           {"7", "7", bothTypes, true},
		"a text":             {`"a-1"`, `"a-1"`, bothTypes, true},
		"a text as escapes":  {`"a-1"`, `"\u0061-1"`, bothTypes, true},
		"a reader of no SSE": {"7", "7", "application/json", false},
	} {
		bubble(t, func(t *testing.T, h *fixture) {
			var u hung
			h.calls.do = u.call
			session := h.session()
			s := h.begin(t.Context(), calling(c.id), with(session, "Accept", c.accept)...)
			if a := h.post(cancelling(c.cancels), session...); a.status != 202 || a.text != "" {
				t.Errorf("%s: to cancel = %d %s", name, a.status, a.text)
			}
			u.want(t, name, `{"id":`+c.id+`}`)
			want := `{"jsonrpc":"2.0","id":` + c.id + `,"error":{"code":-32000,"message":"this call was cancelled, as its client asked"}}`
			if c.streams {
				want = ": cancelled\n\n"
			}
			s.want(t, name, want, true)
			if s.status != 200 || strings.HasPrefix(s.header.Get("Content-Type"), "text/event-stream") != c.streams ||
				!s.deadline.IsZero() {
				t.Errorf("%s: it is %d %v, deadline %v", name, s.status, s.header, s.deadline)
			}
			if charges, events := h.meter.bill(); len(charges) != 1 || charges[0] != "app1 mcp failed true" ||
				len(events) != 1 || events[0].Status != 499 {
				t.Errorf("%s: charged %v, noted %+v", name, charges, events)
			}
			if a := h.post(cancelling(c.cancels), session...); a.status != 202 {
				t.Errorf("%s: to cancel again = %d %s", name, a.status, a.text)
			}
		})
	}
}

func TestCancelledCallWithProgressEndsItsStream(t *testing.T) {
	bubble(t, func(t *testing.T, h *fixture) {
		var u hung
		h.calls.do = u.call
		session := h.session()
		s := h.begin(t.Context(), callWithProgress(`"t"`)["legacy"][0], with(session, "Accept", bothTypes)...)
		time.Sleep(5 * time.Second)
		s.want(t, "under way", progressed(`"t"`, "5"), false)
		h.post(cancelling("1"), session...)
		u.want(t, "cancelled", `{"id":1}`)
		s.want(t, "cancelled", "", true)
		time.Sleep(time.Minute)
		s.want(t, "a minute later", "", true)
	})
}

// The random session id, the caller and the id of the request are all needed.
func TestCancelWorksForTheCallerAlone(t *testing.T) {
	bubble(t, func(t *testing.T, h *fixture) {
		h.tokens.give("other-app", storage.Caller{AppID: "app2", Scope: "app", Audience: issuer}, time.Hour)
		h.tokens.give("elsewhere", storage.Caller{AppID: "app2", UserID: "u1", Scope: "tools", Audience: issuer}, time.Hour)
		h.tokens.give("other-user", storage.Caller{AppID: "app1", UserID: "u2", Scope: "tools", Audience: issuer}, time.Hour)
		var u hung
		h.calls.do = u.call
		session := h.session()
		begin := func() *stream {
			return h.begin(t.Context(), calling("7"), with(session, "Authorization", "Bearer user")...)
		}
		s := begin()
		another := h.session()
		for name, headers := range map[string][]string{
			"another application":        with(session, "Authorization", "Bearer other-app"),
			"the user, elsewhere":        with(session, "Authorization", "Bearer elsewhere"),
			"another user":               with(session, "Authorization", "Bearer other-user"),
			"the application, no user":   session,
			"another session":            with(another, "Authorization", "Bearer user"),
			"no session":                 {"Authorization", "Bearer user"},
			"a part of the session":      {"Authorization", "Bearer user", "Mcp-Session-Id", session[1][:25]},
			"the session in small print": {"Authorization", "Bearer user", "Mcp-Session-Id", strings.ToLower(session[1])},
			"an odd session":             {"Authorization", "Bearer user", "Mcp-Session-Id", strings.Repeat("?", 26)},
		} {
			if a := h.post(cancelling("7"), headers...); a.status != 202 || a.text != "" {
				t.Errorf("%s: to cancel = %d %s, want it taken as any other", name, a.status, a.text)
			}
			u.want(t, name)
		}
		own := with(session, "Authorization", "Bearer user")
		for _, body := range []string{
			cancelling("8"), cancelling(`"7"`), cancelling("7.0"), cancelling("null"), cancelling("{}"), cancelling("[7]"), cancelling(`""`),
			`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized","params":{"requestId":7}}`,
		} {
			if a := h.post(body, own...); a.status != 202 {
				t.Errorf("%s = %d %s", body, a.status, a.text)
			}
			u.want(t, body)
		}
		if a := h.post(cancelling("7"), "Authorization", "Bearer wrong", "Mcp-Session-Id", session[1]); a.status != 401 {
			t.Errorf("without a good token = %d %s", a.status, a.text)
		}
		u.want(t, "without a good token")
		h.post(cancelling("7"), own...)
		u.want(t, "its own", `{"id":7}`)
		s.want(t, "its own", `{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"this call was cancelled, as its client asked"}}`, true)
	})
}

func TestIDThatIsUsedAgainIsThatOfTheCallUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T, h *fixture) {
		session := h.session()
		if a := h.post(calling("7"), session...); a.status != 200 || a.code() != 0 {
			t.Fatalf("a call = %d %s", a.status, a.text)
		}
		h.post(cancelling("7"), session...) // late: it was answered
		var u hung
		h.calls.do = u.call
		first := h.begin(t.Context(), calling("7"), session...)
		u.want(t, "one that begins after its id was cancelled")
		h.post(cancelling("7"), session...)
		u.want(t, "cancelled", `{"id":7}`)
		if _, over := first.got(); !over {
			t.Error("a cancelled call is not over")
		}
		gone, leave := context.WithCancel(t.Context())
		one := h.begin(gone, calling("7"), session...)
		other := h.begin(t.Context(), calling("7"), session...)
		leave() // the end of one of two leaves the other to be cancelled
		u.want(t, "the first of two", `{"id":7}`)
		h.post(cancelling("7"), session...)
		u.want(t, "the second of two", `{"id":7}`)
		for _, s := range []*stream{one, other} {
			if _, over := s.got(); !over {
				t.Error("one of two calls is not over")
			}
		}
		h.begin(t.Context(), calling("7"), session...)
		h.begin(t.Context(), calling("7"), session...)
		h.post(cancelling("7"), session...)
		u.want(t, "two at a time", `{"id":7}`, `{"id":7}`)
	})
}

func TestBatchIsAnsweredWithoutItsCancelledCall(t *testing.T) {
	bubble(t, func(t *testing.T, h *fixture) {
		var u hung
		h.calls.do = u.call
		session := h.session()
		for batch, want := range map[string]string{
			`[{"jsonrpc":"2.0","id":1,"method":"ping"},` + calling("7") + `]`: `[{"jsonrpc":"2.0","id":1,"result":{}}]`,
			`[` + calling("7") + `]`: ": cancelled\n\n",
		} {
			s := h.begin(t.Context(), batch, with(session, "Accept", bothTypes)...)
			if a := h.post(`[`+cancelling("7")+`]`, session...); a.status != 202 {
				t.Errorf("to cancel in a batch = %d %s", a.status, a.text)
			}
			u.want(t, batch, `{"id":7}`)
			s.want(t, batch, want, true)
		}
	})
}

// The modern revision has no sessions: who closes the connection cancels, and nothing else does.
func TestModernCallIsNotCancelledByAMessage(t *testing.T) {
	bubble(t, func(t *testing.T, h *fixture) {
		var u hung
		h.calls.do = u.call
		session := h.session()
		gone, leave := context.WithCancel(t.Context())
		body := modernBody("tools/call", `"name":"pets__getPet","arguments":{"id":1}`)
		h.begin(gone, body, with(modernHeaders("tools/call", `"name":"pets__getPet"`), session...)...)
		h.post(cancelling("1"), session...)
		h.post(cancelling("1"), with(session, "MCP-Protocol-Version", version, "Mcp-Method", "notifications/cancelled")...)
		u.want(t, "a message")
		leave()
		u.want(t, "the end of the connection", `{"id":1}`)
	})
}

// Another node's bus is another Bus: what arrives there ends nothing, and does no harm.
func TestCancelThatArrivesAtAnotherNodeEndsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, h *fixture) {
		var u hung
		h.calls.do = u.call
		session := h.session()
		here := h.bus
		ctx, leave := context.WithCancelCause(t.Context())
		h.begin(ctx, calling("7"), session...)
		h.open()
		if a := h.post(cancelling("7"), session...); h.bus == here || a.status != 202 || a.text != "" {
			t.Errorf("at another node = %d %s", a.status, a.text)
		}
		u.want(t, "at another node")
		leave(errors.New("the client went away"))
		u.want(t, "the client's end", `{"id":7}`)
	})
}
