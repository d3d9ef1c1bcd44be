package mcpcall

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// restarted returns an upstream that has executed one call of the client and then lost its session: unknown is its
// answer to that. It counts the calls that it executes.
func restarted(t *testing.T, unknown func(http.ResponseWriter), executed *int) (*upstream, *Client) {
	u := serve(t, &upstream{era: Legacy, keeps: true, unknown: unknown})
	u.call = func(sent) string {
		*executed++
		return `{"content":[{"type":"text","text":"done"}]}`
	}
	c := client(t, Config{})
	c.Call(t.Context(), u.at(), "x", nil)
	u.mu.Lock()
	clear(u.sessions)
	u.mu.Unlock()
	return u, c
}

func TestUpstreamThatRestartedLosesNoCall(t *testing.T) {
	for name, unknown := range map[string]func(http.ResponseWriter){
		"400, TypeScript": func(w http.ResponseWriter) {
			refuse(w, 400, -32000,
				"Bad Request: No valid session ID provided")
		},
		"400, Python": func(w http.ResponseWriter) {
			refuse(w, 400, -32600,
				"Bad Request: No valid session ID provided")
		},
		"400, text": func(w http.ResponseWriter) {
			w.WriteHeader(400)
			io.WriteString(w, "Invalid session ID")
		},
		"200 and an error": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}`)
		},
		"404": func(w http.ResponseWriter) { refuse(w, 404, -32001, "Session not found") },
		"410": func(w http.ResponseWriter) { w.WriteHeader(410) },
	} {
		executed := 0
		u, c := restarted(t, unknown, &executed)
		if r, err := c.Call(t.Context(), u.at(), "x", nil); err != nil || r.IsError || texts(r) != "done" {
			t.Errorf("%s: the call after a restart = %s, %v", name, texts(r), err)
		}
		if n := strings.Count(u.walk(), "initialize,"); executed != 2 || n != 2 {
			t.Errorf("%s: %d calls executed, %d handshakes, want two of each", name, executed, n)
		}
	}
}

// A refusal may come from a tool that has done its work.
func TestCallThatMayHaveBeenExecutedIsNeverRepeated(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		pings  func(http.ResponseWriter, *http.Request, sent)
	}{
		"400 by the tool": {400, `{"jsonrpc":"2.0","id":$id,"error":{"code":-32000,"message":"No money left"}}`,
			nil},
		"200 by the tool": {200, `{"jsonrpc":"2.0","id":$id,"error":{"code":-32000,"message":"No money left"}}`,
			nil},
		"400 without words": {400, ``, nil},
		"400 to everything": {400, `{"jsonrpc":"2.0","id":$id,"error":{"code":-32000,"message":"Bad Request"}}`,
			plain(400, "application/json",
				`{"jsonrpc":"2.0","id":$id,"error":{"code":-32000,"message":"Bad Request"}}`)},
		"400 without words to everything": {400, ``, plain(400, "", "")},
		"500 to everything":               {500, ``, plain(500, "", "")},
		"400, and then an unknown session": {400,
			`{"jsonrpc":"2.0","id":$id,"error":{"code":-32000,"message":"No money left"}}`,
			plain(400, "application/json",
				`{"jsonrpc":"2.0","id":$id,"error":{"code":-32000,"message":"No session"}}`)},
		"400 of an upstream without the ping": {400,
			`{"jsonrpc":"2.0","id":$id,"error":{"code":-32000,"message":"No"}}`,
			plain(400, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":-32601,"message":"No"}}`)},
	} {
		for _, keeps := range []bool{true, false} {
			u := serve(t, &upstream{era: Legacy, keeps: keeps})
			u.first = func(w http.ResponseWriter, r *http.Request, m sent) bool {
				switch {
				case m.method == "tools/call":
					plain(c.status, "application/json", c.body)(w, r, m)
				case m.method == "ping" && c.pings != nil:
					c.pings(w, r, m)
				default:
					return false
				}
				return true
			}
			r, err := client(t, Config{}).Call(t.Context(), u.at(), "x", nil)
			if n := strings.Count(u.walk(), "tools/call"); err != nil || !r.IsError || n != 1 {
				t.Errorf("%s: Call() = %s, %v, sent %d times, want once", name, texts(r), err, n)
			}
		}
	}
}

// An upstream that answers like this may be in trouble, or may have executed the call, so the call is not repeated. The
// session is given up all the same, or no call after a restart would ever succeed.
func TestUpstreamThatRestartedLosesOneCallAtMost(t *testing.T) {
	for name, unknown := range map[string]func(http.ResponseWriter){
		"500": func(w http.ResponseWriter) { w.WriteHeader(500) },
		"500 and an error": func(w http.ResponseWriter) {
			refuse(w, 500, -32603, "Cannot read properties of undefined (reading 'handleRequest')")
		},
		"401":            func(w http.ResponseWriter) { refuse(w, 401, -32001, "Invalid or expired session") },
		"403":            func(w http.ResponseWriter) { w.WriteHeader(403) },
		"404, no method": func(w http.ResponseWriter) { refuse(w, 404, -32601, "Method not found") },
		"200, bad parameters": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32602,`+
				`"message":"Received request before initialization was complete"}}`)
		},
		"200, no method": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Unknown session"}}`)
		},
		"400, a modern code": func(w http.ResponseWriter) { refuse(w, 400, -32020, "header mismatch") },
	} {
		executed := 0
		u, c := restarted(t, unknown, &executed)
		c.Call(t.Context(), u.at(), "x", nil)
		executed = 0
		if r, err := c.Call(t.Context(), u.at(), "x", nil); err != nil || r.IsError || texts(r) != "done" ||
			executed != 1 {
			t.Errorf("%s: the second call after a restart = %s, %v, executed %d times", name, texts(r), err, executed)
		}
	}
}
