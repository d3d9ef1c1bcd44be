package mcpbus_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// The discovery of an MCP endpoint, its calls and those of an API alike.
func TestAnUpstreamIsSentTheSecretHeadersOfItsCapability(t *testing.T) {
	var mu sync.Mutex
	var sent []string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		sent = append(sent, r.Header.Get("X-Tenant"))
		mu.Unlock()
		var m struct {
			ID     json.RawMessage
			Method string
		}
		body, _ := io.ReadAll(r.Body)
		json.Unmarshal(body, &m)
		w.Header().Set("Content-Type", "application/json")
		result := `"tools":[{"name":"find","inputSchema":{"type":"object"}}]`
		if m.Method == "tools/call" {
			result = `"content":[{"type":"text","text":"done"}]`
		}
		io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"resultType":"complete",`+result+`}}`)
	}))
	t.Cleanup(upstream.Close)
	u := must(mcpbus.NewUpstreams(mcpbus.UpstreamsConfig{AllowPrivateUpstreams: []string{"127.0.0.0/8"},
		Log: quiet}))(t)
	t.Cleanup(func() { u.Close(context.Background()) })
	c := quick("quick")
	c.UpstreamURL = upstream.URL
	c.SetSecretHeaders(map[string]storage.Secret{"X-Tenant": storage.NewSecret("tenant-secret")})
	found, _, err := u.Find(t.Context(), c)
	if err != nil || len(found) != 1 {
		t.Fatalf("found %v, %v", found, err)
	}
	rest := toolplan.Tool{Name: "get", Method: "get", InputSchema: json.RawMessage(`{"type":"object"}`),
		Call: &toolplan.Call{Template: "/x"}}
	for _, tool := range []toolplan.Tool{found[0], rest} {
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
