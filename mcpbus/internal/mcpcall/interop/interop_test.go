package interop

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/mcpbus/internal/mcpcall"
	"github.com/keystile/keystile/storage"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// servers are the ways in which the SDK serves HTTP.
var servers = []struct {
	name    string
	http    mcp.StreamableHTTPOptions
	server  mcp.ServerOptions
	era     mcpcall.Era
	version string
}{
	{"stateless, streams", mcp.StreamableHTTPOptions{Stateless: true}, mcp.ServerOptions{}, mcpcall.Modern, "2026-07-28"},
	{"stateless, JSON", mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}, mcp.ServerOptions{PageSize: 7},
		mcpcall.Modern, "2026-07-28"},
	{"stateful, streams", mcp.StreamableHTTPOptions{}, mcp.ServerOptions{}, mcpcall.Legacy, "2025-11-25"},
	{"stateful, JSON", mcp.StreamableHTTPOptions{JSONResponse: true}, mcp.ServerOptions{PageSize: 7}, mcpcall.Legacy,
		"2025-11-25"},
	{"stateless, of 2025-06-18", mcp.StreamableHTTPOptions{Stateless: true}, old("2025-06-18"), mcpcall.Legacy,
		"2025-06-18"},
	{"stateful, of 2024-11-05", mcp.StreamableHTTPOptions{}, old("2024-11-05"), mcpcall.Legacy, "2024-11-05"},
}

// started is one of them, as it runs.
type started struct {
	url      string
	sessions func() int
	ended    chan struct{} // a call of the tool wait was given up
	entered  chan struct{} // and has begun
}

func start(t *testing.T, i int) *started {
	t.Helper()
	s := &started{ended: make(chan struct{}, 1), entered: make(chan struct{}, 1)}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	options, transport := servers[i].server, servers[i].http
	options.Logger, transport.Logger, transport.PropagateRequestCancellation = quiet, quiet, true
	server := mcp.NewServer(&mcp.Implementation{Name: "peer", Version: "1"}, &options)
	for _, name := range strings.Fields("a b c d e f g h i j k l m n o p q r s t") {
		server.AddTool(&mcp.Tool{Name: "letter." + name, Description: "Says " + name, InputSchema: json.RawMessage(`{"type":"object"}`)}, says(name))
	}
	server.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"region":{"type":"string","x-mcp-header":"Region"}}}`)}, echo)
	server.AddTool(&mcp.Tool{Name: "fail", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "no such pet"}}}, nil
	})
	server.AddTool(&mcp.Tool{Name: "error", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, errors.New("boom")
	})
	server.AddTool(&mcp.Tool{Name: "wait", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s.entered <- struct{}{}
		<-ctx.Done()
		s.ended <- struct{}{}
		return nil, ctx.Err()
	})
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &transport)
	web := httptest.NewServer(handler)
	t.Cleanup(web.Close)
	s.url = web.URL
	s.sessions = func() (n int) {
		for range server.Sessions() {
			n++
		}
		return n
	}
	return s
}

func says(text string) mcp.ToolHandler {
	return func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	}
}

// echo answers with its arguments and every type of content.
func echo(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{StructuredContent: r.Params.Arguments, Content: []mcp.Content{
		&mcp.TextContent{Text: string(r.Params.Arguments)},
		&mcp.ImageContent{Data: []byte("png"), MIMEType: "image/png"},
		&mcp.AudioContent{Data: []byte("wav"), MIMEType: "audio/wav"},
		&mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///a", MIMEType: "text/plain", Text: "x"}},
		&mcp.ResourceLink{URI: "file:///b", Name: "b"},
	}}, nil
}

func client(t *testing.T) *mcpcall.Client {
	t.Helper()
	g, err := netguard.New(netguard.Config{Allow: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := mcpcall.New(mcpcall.Config{Transport: g.Transport()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.WithoutCancel(t.Context())); g.Close(t.Context()) })
	return c
}

func TestToolsOfTheSDKAreFoundAndCalled(t *testing.T) {
	for i, s := range servers {
		t.Run(s.name, func(t *testing.T) {
			up, c := start(t, i), client(t)
			to := mcpcall.Upstream{URL: up.url, Member: "peer", AuthType: "bearer", Secret: storage.NewSecret("topsecret")}
			found, err := c.Discover(t.Context(), to)
			if err != nil {
				t.Fatal(err)
			}
			if found.Era != s.era || found.Version != s.version || len(found.Tools) != 24 || len(found.Skipped) != 0 ||
				found.Names["letter_q"] != "letter.q" {
				t.Errorf("Discover() = %s %s, %d tools, names %v, skipped %v", found.Era, found.Version, len(found.Tools),
					found.Names, found.Skipped)
			}
			called(t, c, to, "letter.q", `{}`, false, "q")
			called(t, c, to, "fail", `{}`, true, "no such pet")
			called(t, c, to, "error", `{}`, true, "boom")
			called(t, c, to, "nobody", `{}`, true, "error -32602")
			r := called(t, c, to, "echo", `{"n":9007199254740993,"region":"eu"}`, false, "9007199254740993")
			if len(r.Content) != 5 || string(r.Structured) != `{"n":9007199254740993,"region":"eu"}` {
				t.Errorf("echo gives %s and %s, want five blocks and every digit", r.Content, r.Structured)
			}
			if n := up.sessions(); s.http.Stateless && n != 0 || !s.http.Stateless && n != 1 {
				t.Errorf("%d sessions, want one if it keeps any", n)
			}
			if err := c.Close(t.Context()); err != nil || up.sessions() != 0 {
				t.Errorf("Close() = %v, and %d sessions are left", err, up.sessions())
			}
		})
	}
}

func called(t *testing.T, c *mcpcall.Client, to mcpcall.Upstream, tool, arguments string, isError bool,
	says string) mcpcall.Result {
	t.Helper()
	r, err := c.Call(t.Context(), to, tool, json.RawMessage(arguments))
	text, _ := json.Marshal(r.Content)
	if err != nil || r.IsError != isError || !strings.Contains(string(text), says) {
		t.Errorf("Call(%s) = %s, error %t, %v; want %q, error %t", tool, text, r.IsError, err, says, isError)
	}
	return r
}

func TestCallThatIsGivenUpEndsInTheTool(t *testing.T) {
	for i, s := range servers {
		if s.http.Stateless && s.era == mcpcall.Legacy {
			continue // nothing tells a stateless server of the legacy era
		}
		t.Run(s.name, func(t *testing.T) {
			up, c := start(t, i), client(t)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-up.entered; cancel() }()
			if _, err := c.Call(ctx, mcpcall.Upstream{URL: up.url}, "wait", nil); !errors.Is(err, context.Canceled) {
				t.Errorf("Call() = %v, want that ctx ended", err)
			}
			<-up.ended
		})
	}
}

// old keeps a server at one revision.
func old(version string) mcp.ServerOptions {
	return mcp.ServerOptions{SupportedProtocolVersions: []string{version}}
}
