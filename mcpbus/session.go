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

// newSession returns a random session id of 130 bits. It is not stored: running calls carry it,
// and a made-up one matches none.
func newSession() string { return rand.Text() }

// sessionOf returns the session id of a request, "" if it has none of the form that newSession
// returns: one that a client made up might be guessed.
func sessionOf(h http.Header) string {
	given := h[headerSession]
	if len(given) != 1 || len(given[0]) != 26 || strings.Trim(given[0], "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		return ""
	}
	return given[0]
}

// callKey identifies a call for cancellation. Only its caller knows all parts.
type callKey struct{ session, app, user, id string }

// cancellableCalls holds the running calls that a message can cancel. A call is removed when it
// ends, so the concurrency limits bound the map.
//
// Legacy clients cancel a call with a notification in a request of its own; initialize returns a session id for
// that. Only running calls are kept, by session id, user, application and request id together, so no session is
// unknown and none can be ended (DELETE is answered 405). A cancel that reaches another node than the call has
// no effect, and is answered 202 as any other is; the call then ends at its time limit. A session id that the
// client made up cancels nothing, because others might guess it. A cancelled call has no response: its HTTP
// answer is a stream that ends or, for clients that read no streams, an error. It is charged like a call whose
// client disconnected.
//
// Modern clients cancel by closing the connection. That ends calls of legacy clients too: no stream is resumed,
// so they could not get their answers any more.
type cancellableCalls struct {
	mu    sync.Mutex
	calls map[callKey][]*canceller // more than one if the client uses an id twice at a time
}

// canceller cancels one call.
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

// cancel cancels the calls with this key, if there are any.
func (r *cancellableCalls) cancel(key callKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.calls[key] {
		s.end(errCancelled)
	}
}

// callKey returns the key of a request of this caller; false if a message cannot cancel it: under
// the modern revision a client closes the connection instead.
func (x *exchange) callKey(id json.RawMessage) (key callKey, ok bool) {
	session := sessionOf(x.request.Header)
	if x.modern || session == "" || len(id) == 0 {
		return callKey{}, false
	}
	text := string(id)
	if id[0] == '"' {
		text = `"` + string(rawjson.Unquote(id)) // differently escaped strings are one id
	}
	return callKey{session, x.caller.AppID, x.caller.UserID, text}, true
}

// handleNotification handles a notification. The only one with an effect is the cancellation of
// a running call (MCP 2025-11-25, cancellation).
func (x *exchange) handleNotification(m *rpc.Message) {
	if m.Method != "notifications/cancelled" {
		return
	}
	if key, ok := x.callKey(m.Params.Get("requestId")); ok {
		x.bus.cancellable.cancel(key)
	}
}
