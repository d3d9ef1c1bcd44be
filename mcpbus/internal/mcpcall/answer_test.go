package mcpcall

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
)

// misbehaviours are answers of upstreams that are not, or not quite, results.
var misbehaviours = []struct {
	name, want string
	answer     func(http.ResponseWriter, *http.Request, sent)
}{
	{"html", "not an MCP message", plain(200, "text/html", "<html>")},
	{"html that says JSON", "not an MCP message", plain(200, "application/json", "<html>")},
	{"no type", "not an MCP message", func(w http.ResponseWriter, _ *http.Request,
		_ sent) {
		w.Header()["Content-Type"] = nil
	}},
	{"accepted", "not an MCP message", plain(202, "", "")},
	{"no content", "not an MCP message", plain(204, "", "")},
	{"empty", "not an MCP message", plain(200, "application/json", "")},
	{"cut off", "not an MCP message", plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"result":{`)},
	{"two messages", "not an MCP message", plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"result":{"content":[]}}{}`)},
	{"another id", "not an MCP message", plain(200, "application/json", `{"jsonrpc":"2.0","id":1$id,"result":{"content":[]}}`)},
	{"its id as a text", "not an MCP message", plain(200, "application/json", `{"jsonrpc":"2.0","id":"$id","result":{"content":[]}}`)},
	{"no id", "not an MCP message", plain(200, "application/json", `{"jsonrpc":"2.0","result":{"content":[]}}`)},
	{"id null", "not an MCP message", plain(200, "application/json", `{"jsonrpc":"2.0","id":null,"result":{"content":[]}}`)},
	{"an error of another id", "not an MCP message", plain(200, "application/json", `{"jsonrpc":"2.0","id":1$id,"error":{"code":-1,"message":"x"}}`)},
	{"result null", "not an MCP message", plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"result":null}`)},
	{"a list as result", "not an MCP message", plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"result":[]}`)},
	{"capitals", "not an MCP message", plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"Result":{"content":[]}}`)},
	{"result twice", "not an MCP message", plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"result":{"content":[]},"result":{"content":[]}}`)},
	{"result and error", "not an MCP message", plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"result":{"content":[]},"error":{"code":1,"message":"x"}}`)},
	{"an error without a code", "not an MCP message", plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"message":"x"}}`)},
	{"no version", "not an MCP message", plain(200, "application/json", `{"id":$id,"result":{"content":[]}}`)},
	{"a notification alone", "not an MCP message", plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"method":"x","result":{"content":[]}}`)},
	{"a number", "not an MCP message", plain(200, "application/json", `7`)},
	{"an empty batch", "not an MCP message", plain(200, "application/json", `[]`)},
	{"an answer that is announced as too long", "it has 1048577 bytes, and at most 1048576 bytes are; ask for less",
		func(w http.ResponseWriter, _ *http.Request, _ sent) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", "1048577") // and nothing of it comes: it is not waited for
		}},
	{"an endless answer", "it has more than 1048576 bytes; ask for less", plain(200, "application/json", `{"x":"`+strings.Repeat("x", 1<<20)+`"}`)},
	{"an endless stream", "longer than is read: it has more than 1048576 bytes",
		plain(200, "text/event-stream", strings.Repeat(": x\n", 1<<19))},
	{"an endless event", "longer than is read", plain(200, "text/event-stream", "data: "+strings.Repeat("x", 1<<20))},
	{"a stream without an answer", "broke off", plain(200, "text/event-stream",
		"data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n")},
	{"a stream for somebody else", "broke off", plain(200, "text/event-stream",
		"data: {\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{\"content\":[]}}\n\n")},
	{"a stream of html", "not an MCP message", plain(200, "text/event-stream", "data: <html>\n\n")},
	{"a body that breaks off", "broke off", func(w http.ResponseWriter, _ *http.Request, _ sent) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, `{"jsonrpc"`)
	}},
	{"a gzip bomb", "longer than is read", func(w http.ResponseWriter, _ *http.Request, _ sent) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		z.Write(bytes.Repeat([]byte(" "), 4<<20))
		z.Close()
	}},
	{"brotli", "content encoding", func(w http.ResponseWriter, _ *http.Request, _ sent) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "br")
		io.WriteString(w, "x")
	}},
	{"a redirect", "redirects (HTTP 308", func(w http.ResponseWriter, _ *http.Request, _ sent) {
		w.Header().Set("Location", "http://127.0.0.1:1/secret")
		w.WriteHeader(308)
	}},
	{"401", "credential", plain(401, "text/plain", "token topsecret1 expired")},
	{"500", "HTTP 500 Internal Server Error", plain(500, "text/plain", "at db.internal:5432")},
	{"an endless 500", "HTTP 500 Internal Server Error", plain(500, "text/plain", strings.Repeat("x", 1<<20))},
	{"503", "busy", plain(503, "", "")},
	{"an unknown tool", "error -32602: Unknown tool: x", plain(400, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":-32602,"message":"Unknown\ntool: \u0007x"}}`)},
	{"an error with 200", "error -32603: boom", plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":-32603,"message":"boom","data":{"code":-32020}}}`)},
	{"an error in a stream", "error -32603: boom", plain(200, "text/event-stream",
		"data: {\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32603,\"message\":\"boom\"}}\n\n")},
	{"an error that is long", strings.Repeat("x", 300) + "...", plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":1,"message":"`+strings.Repeat("x", 999)+`"}}`)},
	{"an error that names addresses", "error 7: dial [address]: refused by [address], see [address] at 12:30 (1.2.3)",
		plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":7,"message":"dial 10.0.0.5:5432: refused by fe80::1, see https://db.internal/x?k=v at 12:30 (1.2.3)"}}`)},
	{"an error without words", "error 7: ", plain(200, "application/json", `{"jsonrpc":"2.0","id":$id,"error":{"code":7,"message":{"a":1}}}`)},
}

func TestResultIsMadeOfWhateverAnUpstreamAnswers(t *testing.T) {
	for _, era := range []Era{Modern, Legacy} {
		for _, c := range misbehaviours {
			u := serve(t, &upstream{era: era, first: says("tools/call", c.answer)})
			r, err := client(t, Config{}).Call(t.Context(), u.at(), "x", nil)
			if err != nil || !r.IsError || !r.Dispatched || len(r.Content) != 1 || !strings.Contains(texts(r), c.want) {
				t.Errorf("%s, %s: %+v, %v, says %q, want %s", era, c.name, r, err, texts(r), c.want)
			}
			for _, leak := range []string{"127.0.0.1", "internal", "10.0.0", "topsecret", "\n", "\a"} {
				if strings.Contains(strings.ReplaceAll(texts(r), "Internal", ""), leak) {
					t.Errorf("%s, %s: says %q, want no %q in it", era, c.name, texts(r), leak)
				}
			}
			if n := strings.Count(u.walk(), "tools/call"); n != 1 {
				t.Errorf("%s, %s: sent %d times, want once", era, c.name, n)
			}
		}
	}
}

func TestBatchMayHoldTheAnswer(t *testing.T) {
	u := serve(t, &upstream{era: Legacy, version: "2025-03-26", first: says("tools/call", plain(200, "application/json",
		` [{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"x"}]}}]`))})
	if r, err := client(t, Config{}).Call(t.Context(), u.at(), "x", nil); err != nil || r.IsError || texts(r) != "x" {
		t.Errorf("Call() = %+v, %v, want the result", r, err)
	}
}
