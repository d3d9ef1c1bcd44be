package mcpcall

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// upstream is an MCP server for tests. It is strict about what a client must send in its
// era, and remembers it.
type upstream struct {
	era     Era
	version string                     // of the handshake; "": what the client offers
	keeps   bool                       // sessions
	stream  bool                       // answers are streams of events
	list    func(cursor string) string // the result of tools/list, "first" for no cursor
	call    func(m sent) string        // the result of tools/call
	// first may answer in place of the server, and says so.
	first func(w http.ResponseWriter, r *http.Request, m sent) bool

	server *httptest.Server

	unknown func(w http.ResponseWriter) // refuses an unknown session; nil: 404

	mu       sync.Mutex
	seen     []sent // requests and notifications
	sessions map[string]bool
	answers  chan sent // to what the server has asked
}

// sent is one request as it arrived.
type sent struct {
	http, method, id string
	header           http.Header
	params           map[string]json.RawMessage
	body             string
}

func serve(t testing.TB, u *upstream) *upstream {
	t.Helper()
	u.sessions, u.answers = map[string]bool{}, make(chan sent, 200)
	u.server = httptest.NewUnstartedServer(u)
	u.server.Config.ErrorLog = log.New(io.Discard, "", 0) // planted failures
	u.server.Start()
	t.Cleanup(u.server.Close)
	return u
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var in struct {
		Method string
		ID     json.RawMessage
		Params map[string]json.RawMessage
	}
	json.Unmarshal(body, &in)
	m := sent{r.Method, in.Method, string(in.ID), r.Header, in.Params, string(body)}
	if m.http == "POST" && m.method == "" {
		w.WriteHeader(202)
		u.answers <- m
		return
	}
	u.mu.Lock()
	u.seen = append(u.seen, m)
	u.mu.Unlock()
	switch {
	case u.first != nil && u.first(w, r, m):
	case u.era == Modern:
		u.modern(w, m)
	default:
		u.legacy(w, m)
	}
}

func (u *upstream) modern(w http.ResponseWriter, m sent) {
	var meta map[string]json.RawMessage
	json.Unmarshal(m.params["_meta"], &meta)
	version := string(meta["io.modelcontextprotocol/protocolVersion"])
	switch {
	case m.http != "POST" || m.method == "initialize" || strings.HasPrefix(m.method, "notifications/"):
		refuse(w, 404, -32601, "method not found")
	case m.header.Get("MCP-Protocol-Version") != "2026-07-28" || version != `"2026-07-28"` || m.header.Get("Mcp-Method") != m.method ||
		string(meta["io.modelcontextprotocol/clientCapabilities"]) != "{}" || m.header.Get("Mcp-Session-Id") != "" ||
		m.method == "tools/call" && `"`+m.header.Get("Mcp-Name")+`"` != string(m.params["name"]):
		refuse(w, 400, -32020, "header mismatch")
	default:
		u.serve(w, m)
	}
}

func (u *upstream) legacy(w http.ResponseWriter, m sent) {
	u.mu.Lock()
	defer u.mu.Unlock()
	session := m.header.Get("Mcp-Session-Id")
	switch {
	case m.http == "DELETE" && u.sessions[session]:
		delete(u.sessions, session)
	case m.http != "POST" || m.header.Get("Mcp-Method") != "" && m.method == "tools/call":
		w.WriteHeader(405)
	case m.method == "initialize":
		if u.keeps {
			session = fmt.Sprintf("session-%d", len(u.seen))
			u.sessions[session] = true
			w.Header().Set("Mcp-Session-Id", session)
		}
		version := u.version
		if version == "" {
			json.Unmarshal(m.params["protocolVersion"], &version)
		}
		u.answer(w, m, `{"protocolVersion":"`+version+`","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"0"}}`)
	case u.keeps && session == "":
		refuse(w, 400, -32000, "no session")
	case u.keeps && !u.sessions[session]:
		if u.unknown != nil {
			u.unknown(w)
			return
		}
		refuse(w, 404, -32001, "session not found")
	case m.params["_meta"] != nil:
		refuse(w, 400, -32600, "what is this?")
	case m.method == "notifications/initialized", m.method == "notifications/cancelled":
		w.WriteHeader(202)
	default:
		u.serve(w, m)
	}
}

func (u *upstream) serve(w http.ResponseWriter, m sent) {
	result := ""
	switch m.method {
	case "tools/list":
		cursor := "first"
		if v, given := m.params["cursor"]; given {
			json.Unmarshal(v, &cursor)
		}
		result = `{"tools":[]}`
		if u.list != nil {
			result = u.list(cursor)
		}
	case "tools/call":
		result = `{"content":[{"type":"text","text":"done"}]}`
		if u.call != nil {
			result = u.call(m)
		}
	case "ping":
		result = `{}`
	default:
		refuse(w, 404, -32601, "method not found")
		return
	}
	if u.era == Modern && !strings.Contains(result, "resultType") {
		result = `{"resultType":"complete",` + strings.TrimPrefix(result, "{")
	}
	u.answer(w, m, result)
}

func (u *upstream) answer(w http.ResponseWriter, m sent, result string) {
	message := `{"jsonrpc":"2.0","id":` + m.id + `,"result":` + result + `}`
	if !u.stream {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		io.WriteString(w, message)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, ": hello\n\nid: 1\nretry: 5\ndata:\n\n"+
		"event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n\n"+
		"data: {\"jsonrpc\":\"2.0\",\"id\":"+m.id+",\"method\":\"sampling/createMessage\",\"params\":{}}\n\n")
	w.(http.Flusher).Flush()
	io.WriteString(w, "event: message\ndata: "+strings.ReplaceAll(message, "\n", "\ndata: ")+"\n\n")
}

func refuse(w http.ResponseWriter, status, code int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":"server-error","error":{"code":%d,"message":%q}}`, code, why)
}

// says makes a first that answers each request of a method in the same way.
func says(method string,
	answer func(w http.ResponseWriter, r *http.Request, m sent)) func(http.ResponseWriter, *http.Request, sent) bool {
	return func(w http.ResponseWriter, r *http.Request, m sent) bool {
		if m.method == method {
			answer(w, r, m)
		}
		return m.method == method
	}
}

// plain answers with a body as it is.
func plain(status int, contentType, body string) func(http.ResponseWriter, *http.Request, sent) {
	return func(w http.ResponseWriter, _ *http.Request, m sent) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		io.WriteString(w, strings.ReplaceAll(body, "$id", m.id))
	}
}

// walk records what was asked so far, in order.
func (u *upstream) walk() string {
	u.mu.Lock()
	defer u.mu.Unlock()
	var out []string
	for _, m := range u.seen {
		out = append(out, strings.TrimSpace(strings.TrimPrefix(m.http, "POST")+" "+m.method))
	}
	return strings.Join(out, ", ")
}

func (u *upstream) open() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.sessions)
}

func (u *upstream) last() sent {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.seen[len(u.seen)-1]
}

func (u *upstream) at() Upstream { return Upstream{URL: u.server.URL + "/mcp"} }
