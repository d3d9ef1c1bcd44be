package mcp

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestGoSDK(t *testing.T) {
	for name, version := range map[string]string{
		"modern": "2026-07-28", "2025-11-25": "2025-11-25", "2025-06-18": "2025-06-18", "2025-03-26": "2025-03-26",
		"2024-11-05": "2024-11-05",
	} {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			changed := make(chan struct{}, 1)
			client := mcp.NewClient(&mcp.Implementation{Name: "peer", Version: "1"}, &mcp.ClientOptions{
				ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
			})
			transport := &mcp.StreamableClientTransport{Endpoint: h.url + "/api/mcp",
				HTTPClient: &http.Client{Transport: bearing(h.bearer)}, MaxRetries: -1}
			session, err := client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if got := session.InitializeResult(); got.ProtocolVersion != version || got.ServerInfo.Name != "Keystile" {
				t.Errorf("connected to %+v", got)
			}
			if got := list(ctx, t, session); got != tools {
				t.Errorf("it lists %d tools, want %d", got, tools)
			}
			page, err := session.ListTools(ctx, nil)
			if err != nil || len(page.Tools) != 100 || page.NextCursor == "" {
				t.Errorf("a page = %d tools, %v", len(page.Tools), err)
			}
			result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "pets__tool001", Arguments: map[string]any{"n": 7}})
			if err != nil || result.IsError || result.Content[0].(*mcp.TextContent).Text != `tool001 {"n":7}` || result.StructuredContent.(map[string]any)["n"] != 7.0 {
				t.Errorf("a call = %+v, %v", result, err)
			}
			if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "pets__none"}); err == nil {
				t.Error("a tool that is not there is called")
			}
			if version != "2026-07-28" {
				return
			}
			h.register("more", 3)
			if err := h.bus.Reload(ctx); err != nil {
				t.Fatal(err)
			}
			select {
			case <-changed:
			case <-ctx.Done():
				t.Fatal("a change of the list is not told")
			}
			if got := list(ctx, t, session); got != tools+3 {
				t.Errorf("after a change it lists %d tools, want %d", got, tools+3)
			}
		})
	}
}

func list(ctx context.Context, t *testing.T, session *mcp.ClientSession) (n int) {
	t.Helper()
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			t.Fatal(err)
		}
		if tool.Description == "" || tool.InputSchema == nil {
			t.Errorf("a tool is %+v", tool)
		}
		n++
	}
	return n
}

// bearing sends a bearer token with each request.
type bearing string

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}
