package mcpbus_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/keystile/keystile/mcpbus"
)

// session begins a session as a legacy client does, and returns its header.
func (h *fixture) session() []string {
	h.Helper()
	a := h.legacy("initialize", `{"protocolVersion":"2025-11-25"}`)
	id := a.header.Get("Mcp-Session-Id")
	if a.status != 200 || id == "" {
		h.Fatalf("initialize = %d %v, want a session id", a.status, a.header)
	}
	return []string{"Mcp-Session-Id", id}
}

// A session is an id and nothing else: no node has to know it.
func TestSessionIsKnownToNobody(t *testing.T) {
	h := newFixture(t)
	seen := map[string]bool{}
	for range 100 {
		id := h.session()[1]
		if len(id) != 26 || seen[id] {
			t.Fatalf("the session id %q is short, or was given before", id)
		}
		seen[id] = true
	}
	made := strings.Repeat("A", 26)
	if a := h.legacy("tools/list", "", "Mcp-Session-Id", made); a.status != 200 || a.code() != 0 ||
		a.header.Get("Mcp-Session-Id") != "" {
		t.Errorf("with the session of another node: %d %v %s", a.status, a.header, a.text)
	}
	for _, method := range []string{"GET", "DELETE"} {
		r := request(t.Context(), "", "Mcp-Session-Id", made)
		r.Method = method
		if a := send(h.bus, r); a.status != 405 || a.header.Get("Allow") != "POST" {
			t.Errorf("%s with a session = %d %v %s", method, a.status, a.header, a.text)
		}
	}
	if a := h.modern("server/discover", ""); a.header.Get("Mcp-Session-Id") != "" {
		t.Error("the modern revision has a session")
	}
	if a := h.post(`[` + legacyBody("initialize", "{}") + `]`); a.header.Get("Mcp-Session-Id") != "" {
		t.Error("a batch has a session")
	}
}

// However a call ends, nothing is left of it.
func TestSessionKeepsNothingOfACallThatHasEnded(t *testing.T) {
	bubble(t, func(t *testing.T, h *fixture) {
		session := h.session()
		kept := func(what string, want int) {
			t.Helper()
			synctest.Wait()
			if got := h.bus.CallsKept(); got != want {
				t.Errorf("%s, %d calls are kept, want %d", what, got, want)
			}
		}
		h.post(calling("1"), session...)
		kept("after an answer", 0)
		var u hung
		h.calls.do = u.call
		gone, leave := context.WithCancel(t.Context())
		for i := range 16 {
			h.begin(gone, calling(fmt.Sprint(i)), session...)
		}
		kept("while 16 are under way", 16)
		h.begin(gone, calling("17"), session...) // for which there is no room
		kept("with one too many", 16)
		h.post(cancelling("1"), session...)
		kept("after a cancel", 15)
		leave()
		kept("after their client went away", 0)
		h.calls.do = func(context.Context, string, json.RawMessage) (mcpbus.Result, error) { panic("inner reason") }
		h.post(calling("1"), session...)
		kept("after a panic", 0)
	})
}

// A client that makes up its session id might choose one that others guess.
func TestSessionOfTheClientsOwnMakingCancelsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, h *fixture) {
		var u hung
		h.calls.do = u.call
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		for _, session := range []string{"1", strings.Repeat("A", 25), strings.Repeat("A", 27), strings.Repeat("a", 26),
			strings.Repeat("-", 26)} {
			h.begin(ctx, calling("7"), "Mcp-Session-Id", session)
			if a := h.post(cancelling("7"), "Mcp-Session-Id", session); a.status != 202 {
				t.Errorf("to cancel with the session %q = %d %s", session, a.status, a.text)
			}
			u.want(t, session)
		}
	})
}
