package mcpbus

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/mcpbus/internal/rpc"
)

// headerSession is the header as net/http spells it.
const headerSession = "Mcp-Session-Id"

// errCancelled ends a call because its client said so.
var errCancelled = errors.New("mcpbus: the client cancelled the call")

// newSession draws a session id of 130 bits. Nothing is kept of it: it is what the calls of a
// client are found by, and one that is made up finds none.
func newSession() string { return rand.Text() }

// sessionOf is the session id of a request, "" if it has none of the form that is handed out
// here: one that a client has made up might be guessed.
func sessionOf(h http.Header) string {
	given := h[headerSession]
	if len(given) != 1 || len(given[0]) != 26 || strings.Trim(given[0], "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		return ""
	}
	return given[0]
}

// callKey is what a call is cancelled by. Only who called it has all of it.
type callKey struct{ session, app, user, id string }

// cancellableCalls are the calls under way that a message can cancel. Nothing is kept of a call that
// has ended, so there are never more than slots let in.
type cancellableCalls struct {
	mu    sync.Mutex
	calls map[callKey][]*canceller // of one id more than one, if its client uses it twice at a time
}

// canceller ends one call.
type canceller struct{ end context.CancelCauseFunc }

func (r *cancellableCalls) add(key callKey, s *canceller) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.calls == nil {
		r.calls = map[callKey][]*canceller{}
	}
	r.calls[key] = append(r.calls[key], s)
}

func (r *cancellableCalls) remove(key callKey, s *canceller) {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := slices.DeleteFunc(r.calls[key], func(other *canceller) bool { return other == s })
	if r.calls[key] = left; len(left) == 0 {
		delete(r.calls, key)
	}
}

// cancel ends the calls with this key; without one, nothing happens.
func (r *cancellableCalls) cancel(key callKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.calls[key] {
		s.end(errCancelled)
	}
}

// callKey is that of a request of this caller's, false if none can be cancelled by a message:
// under the modern revision a client closes the connection instead.
func (x *exchange) callKey(id json.RawMessage) (key callKey, ok bool) {
	session := sessionOf(x.request.Header)
	if x.modern || session == "" || len(id) == 0 {
		return callKey{}, false
	}
	text := string(id)
	if id[0] == '"' {
		text = `"` + string(rawjson.Unquote(id)) // two ways of writing a string are one id
	}
	return callKey{session, x.caller.AppID, x.caller.UserID, text}, true
}

// handleNotification takes a notification. The only one that means something here is of a call that
// is to end (MCP 2025-11-25, cancellation); of an unknown call it means nothing either.
func (x *exchange) handleNotification(m *rpc.Message) {
	if m.Method != "notifications/cancelled" {
		return
	}
	if key, ok := x.callKey(m.Params.Get("requestId")); ok {
		x.bus.cancellable.cancel(key)
	}
}
