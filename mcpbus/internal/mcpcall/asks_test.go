package mcpcall

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// asking answers a request with a stream in which the upstream asks first, and waits until it was answered.
func asking(t *testing.T, u *upstream, result string, asked ...string) func(w http.ResponseWriter, r *http.Request,
	m sent) {
	return func(w http.ResponseWriter, r *http.Request, m sent) {
		w.Header().Set("Content-Type", "text/event-stream")
		if m.method == "initialize" {
			w.Header().Set("Mcp-Session-Id", "s1")
			u.mu.Lock()
			u.sessions["s1"] = true
			u.mu.Unlock()
		}
		for _, text := range asked {
			fmt.Fprintf(w, "data: %s\n\n", text)
			w.(http.Flusher).Flush()
			select {
			case got := <-u.answers:
				want := `{"jsonrpc":"2.0","id":` + idOf(text) + `,"error":{"code":-32601,"message":"Method not found"}}`
				if strings.Contains(text, `"ping"`) {
					want = `{"jsonrpc":"2.0","id":` + idOf(text) + `,"result":{}}`
				}
				if got.body != want || u.keeps && got.header.Get("Mcp-Session-Id") == "" ||
					got.header.Get("Mcp-Method") != "" || got.header.Get("Authorization") != "Bearer k" {
					t.Errorf("%s is answered %s with %v, want %s", text, got.body, got.header, want)
				}
			case <-r.Context().Done():
				t.Errorf("%s is not answered while the call runs", text)
				return
			}
		}
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", m.id, result)
	}
}

func idOf(text string) string {
	_, text, _ = strings.Cut(text, `"id":`)
	text, _, _ = strings.Cut(text, ",")
	return text
}

// Upstreams take a client that answers no ping for dead, and wait for an answer to the rest.
func TestUpstreamRequestsDuringACallAreAnswered(t *testing.T) {
	asked := []string{`{"jsonrpc":"2.0","id":"a\"1","method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}`,
		`{"jsonrpc":"2.0","id":-7,"method":"roots/list"}`,
		`{"jsonrpc":"2.0","id":"e","method":"elicitation/create","params":{"message":"?"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"ping","params":{}}`,
		`{"jsonrpc":"2.0","id":3,"method":"no/such"}`}
	for _, era := range []Era{Modern, Legacy} {
		for method, result := range map[string]string{
			"tools/call": `{"resultType":"complete","content":[{"type":"text","text":"done"}]}`,
			"tools/list": `{"resultType":"complete","tools":[{"name":"x"}]}`,
			"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"fake",` +
				`"version":"0"}}`,
		} {
			u := serve(t, &upstream{era: era, keeps: era == Legacy,
				list: func(string) string { return `{"tools":[{"name":"x"}]}` }})
			ask := asking(t, u, result, asked...)
			u.first = func(w http.ResponseWriter, r *http.Request, m sent) bool {
				// no probe of the other era
				if m.method != method || era == Legacy && m.header.Get("Mcp-Method") != "" {
					return false
				}
				ask(w, r, m)
				return true
			}
			c, at := client(t, Config{}), u.at()
			at.AuthType, at.Secret = "bearer", secret("k")
			found, err := c.Discover(t.Context(), at)
			if err != nil || len(found.Tools) != 1 {
				t.Errorf("%s, %s: Discover() = %+v, %v", era, method, found, err)
			}
			if r, err := c.Call(t.Context(), at, "x", nil); err != nil || r.IsError || texts(r) != "done" {
				t.Errorf("%s, %s: Call() = %s, %v", era, method, texts(r), err)
			}
		}
	}
}

func TestRequestBesideTheResponseInOneBatchIsAnswered(t *testing.T) {
	u := serve(t, &upstream{era: Legacy, first: says("tools/call", plain(200, "application/json",
		`[{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"first"}]}},{"jsonrpc":"2.0","id":"p",`+
			`"method":"ping"},{"jsonrpc":"2.0","id":$id,"result":{"content":[]}},7]`))})
	r, err := client(t, Config{}).Call(t.Context(), u.at(), "x", nil)
	if err != nil || texts(r) != "first" {
		t.Errorf("Call() = %s, %v", texts(r), err)
	}
	if got := <-u.answers; got.body != `{"jsonrpc":"2.0","id":"p","result":{}}` {
		t.Errorf("the ping is answered %s", got.body)
	}
}

// An upstream that asks without end, or reads no answers, makes its call cost no more than an answer may.
func TestUpstreamThatAsksWithoutEndGetsItsAnswersOneByOne(t *testing.T) {
	open, stop := make(chan struct{}), make(chan struct{})
	u := serve(t, &upstream{era: Legacy})
	u.first = func(w http.ResponseWriter, r *http.Request, m sent) bool {
		if m.method != "tools/call" {
			return false
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 1000 {
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n\n", i)
		}
		for _, id := range []string{`null`, `{}`, `[1]`, `true`, `"` + strings.Repeat("x", 300) + `"`} {
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}\n\n", id)
		}
		io.WriteString(w, `data: {"jsonrpc":"2.0","id":`+m.id+`,"result":{"content":[{"type":"text","text":"done"}]}}`+
			"\n\n")
		return true
	}
	answered := 0
	transport := client(t, Config{}).config.Transport
	c := client(t, Config{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.ContentLength > 0 && r.ContentLength < 60 { // an answer
			if answered++; answered == 1 {
				close(open)
			}
			<-stop
		}
		return transport.RoundTrip(r)
	})})
	r, err := c.Call(t.Context(), u.at(), "x", nil)
	if err != nil || texts(r) != "done" {
		t.Errorf("Call() = %s, %v", texts(r), err)
	}
	<-open
	close(stop)
	if err := c.Close(t.Context()); err != nil || answered > maxAsks+2 {
		t.Errorf("%d answers were sent, %v, want at most %d", answered, err, maxAsks+2)
	}
	if n := len(u.answers); n != answered {
		t.Errorf("%d of %d answers have arrived after Close", n, answered)
	}
}
