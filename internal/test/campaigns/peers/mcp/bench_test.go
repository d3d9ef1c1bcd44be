package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/toolplan"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	arguments = `{"name":"Rex","age":3}`
	schema    = `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name"]}`
	origin    = "https://id.example.com"
)

// BenchmarkToolsCall is one call of a tool whose upstream is a local server: directly, by a handler
// that does the least, by the bus, and by a server made of the official SDK that passes the call on.
func BenchmarkToolsCall(b *testing.B) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"id":42,"name":"Rex","tags":["a","b"]}`)
	}))
	defer upstream.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}
	defer client.CloseIdleConnections()
	b.Run("direct", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := pass(b.Context(), client, upstream.URL, arguments); err != nil {
				b.Fatal(err)
			}
		}
	})
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":` + arguments + `}}`
	b.Run("handler", func(b *testing.B) { speak(b, byHand(client, upstream.URL), fmt.Sprintf(body, "pets__tool0000")) })
	b.Run("bus", func(b *testing.B) { speak(b, busOf(b, upstream.URL, 1), fmt.Sprintf(body, "pets__tool0000")) })
	b.Run("sdk", func(b *testing.B) { speak(b, peerOf(client, upstream.URL, 1), fmt.Sprintf(body, "tool0000")) })
}

// BenchmarkToolsListPage is the first page, of 1,000, of 10,000 tools.
func BenchmarkToolsListPage(b *testing.B) {
	const body = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`
	b.Run("bus", func(b *testing.B) { speak(b, busOf(b, "http://127.0.0.1:1", 10_000), body) })
	b.Run("sdk", func(b *testing.B) { speak(b, peerOf(http.DefaultClient, "http://127.0.0.1:1", 10_000), body) })
}

func pass(ctx context.Context, client *http.Client, to, body string) (string, error) {
	r, err := http.NewRequestWithContext(ctx, "POST", to+"/pets", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Content-Type", "application/json")
	resp, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return string(text), err
}

// byHand returns a handler that does the least: it decodes the message, passes the arguments on
// and encodes the result. It checks nothing, neither the caller nor the arguments.
func byHand(client *http.Client, upstream string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Params struct {
				Name      string
				Arguments json.RawMessage
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil || m.Params.Name != "pets__tool0000" {
			w.WriteHeader(400)
			return
		}
		text, err := pass(r.Context(), client, upstream, string(m.Params.Arguments))
		if err != nil {
			w.WriteHeader(502)
			return
		}
		type content struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": map[string]any{
			"content": []content{{"text", text}}, "structuredContent": json.RawMessage(text)}})
	})
}

// speak sends a message of a legacy client to a handler, again and again. The request and the
// recorder themselves take little, so that the figures are those of the handler.
func speak(b *testing.B, handler http.Handler, body string) {
	caller := storage.Caller{AppID: "app", Audience: origin, Scope: "tools"}
	ask := httptest.NewRequest("POST", "/api/mcp", nil)
	text, answer := strings.NewReader(body), &recorder{header: http.Header{}}
	ask.ContentLength = int64(len(body))
	b.ReportAllocs()
	for b.Loop() {
		text.Reset(body)
		clear(answer.header)
		answer.status, answer.text = 200, answer.text[:0]
		ask.Header = http.Header{
			"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {"2025-06-18"},
		}
		ask.Body = io.NopCloser(text)
		handler.ServeHTTP(answer, ask.WithContext(&reqctx.Visit{Context: b.Context(), Known: true, Caller: caller}))
		if answer.status != 200 || !bytes.Contains(answer.text, []byte(`"result"`)) || bytes.Contains(answer.text, []byte(`"isError":true`)) {
			b.Fatal(answer.status, string(answer.text))
		}
	}
}

// recorder keeps an answer, and its memory for the next one.
type recorder struct {
	header http.Header
	status int
	text   []byte
}

func (r *recorder) Header() http.Header    { return r.header }
func (r *recorder) WriteHeader(status int) { r.status = status }
func (r *recorder) Flush()                 {}
func (r *recorder) Write(text []byte) (int, error) {
	r.text = append(r.text, text...)
	return len(text), nil
}

func busOf(b *testing.B, upstream string, n int) http.Handler {
	backend := memory.New()
	b.Cleanup(func() { backend.Close() })
	store, err := storage.Open(b.Context(), backend, storage.NewMasterKey())
	if err != nil {
		b.Fatal(err)
	}
	list := make([]toolplan.Tool, n)
	for i := range list {
		list[i] = toolplan.Tool{Name: fmt.Sprintf("tool%04d", i), Method: "post", Path: "/pets", Description: "Add a pet",
			InputSchema: json.RawMessage(schema),
			Call: &toolplan.Call{Template: "/pets", Body: &toolplan.Body{ContentType: "application/json",
				Fields: []toolplan.Field{{Arg: "name", Name: "name", Required: true}, {Arg: "age", Name: "age"}}}}}
	}
	c := storage.Capability{Member: "pets", Kind: storage.CapabilityREST, UpstreamURL: upstream, Publish: true,
		Owner: "u1"}
	if _, err := store.SaveCapability(b.Context(), c, list); err != nil {
		b.Fatal(err)
	}
	upstreams, err := mcpbus.NewUpstreams(mcpbus.UpstreamsConfig{AllowPrivateUpstreams: []string{"127.0.0.0/8"},
		Log: quiet})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { upstreams.Close(context.Background()) })
	bus, err := mcpbus.New(b.Context(), mcpbus.Config{BaseURL: origin, Store: store, Invoker: upstreams, Meter: free{},
		DefaultAccess: storage.AccessEveryone, Log: quiet})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { bus.Close(context.Background()) })
	return bus
}

func peerOf(client *http.Client, upstream string, n int) http.Handler {
	server := sdk.NewServer(&sdk.Implementation{Name: "peer", Version: "1"},
		&sdk.ServerOptions{PageSize: 1000, Logger: quiet})
	for i := range n {
		server.AddTool(&sdk.Tool{Name: fmt.Sprintf("tool%04d", i), Description: "Add a pet",
			InputSchema: json.RawMessage(schema)},
			func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				text, err := pass(ctx, client, upstream, string(r.Params.Arguments))
				if err != nil {
					return nil, err
				}
				return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}},
					StructuredContent: json.RawMessage(text)}, nil
			})
	}
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true, Logger: quiet})
}
