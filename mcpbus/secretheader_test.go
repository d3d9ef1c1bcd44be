package mcpbus_test

import (
	"encoding/json"
	"net/http"
	"sync"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// The discovery of an MCP endpoint, its calls and those of an API alike.
func TestUpstreamIsSentTheSecretHeadersOfItsCapability(t *testing.T) {
	var mu sync.Mutex
	var sent []string
	upstream := mcpUpstream(t, func(r *http.Request, method string, _ json.RawMessage) string {
		mu.Lock()
		sent = append(sent, r.Header.Get("X-Tenant"))
		mu.Unlock()
		if method == "tools/call" {
			return `"content":[{"type":"text","text":"done"}]`
		}
		return `"tools":[{"name":"find","inputSchema":{"type":"object"}}]`
	})
	u := localUpstreams(t)
	c := quick("quick")
	c.UpstreamURL = upstream.URL
	c.SetSecretHeaders(map[string]storage.Secret{"X-Tenant": storage.NewSecret("tenant-secret")})
	found, err := u.Discover(t.Context(), c)
	if err != nil || len(found.Tools) != 1 {
		t.Fatalf("found %v, %v", found, err)
	}
	rest := toolplan.Tool{Name: "get", Method: "get", InputSchema: json.RawMessage(`{"type":"object"}`),
		Call: &toolplan.Call{Template: "/x"}}
	for _, tool := range []toolplan.Tool{found.Tools[0], rest} {
		if _, err := u.Call(t.Context(), c, tool, json.RawMessage(`{}`)); err != nil {
			t.Errorf("%s: %v", tool.Name, err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for _, value := range sent {
		if value != "tenant-secret" {
			t.Errorf("an upstream is sent %q", sent)
		}
	}
	if len(sent) < 3 {
		t.Errorf("it was asked %d times", len(sent))
	}
}
