package mcpbus_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// BenchmarkToolsCallAlone measures what the bus itself adds to a call: the upstream answers at once,
// and nothing goes over a network. Beside a plain call there is one that its client can
// cancel, and one whose client asks for progress and does not get any.
func BenchmarkToolsCallAlone(b *testing.B) {
	h := emptyFixture(b)
	h.register(capability("pets", "https://pets.example.com"), rest("get", "getPet"))
	ready := answered(200, `{"id":42,"name":"Rex"}`)
	h.open(func(c *mcpbus.Config) { c.Invoker, c.Meter, c.Audit = instant{ready}, free{}, free{} })
	params := `"name":"pets__getPet","arguments":{"id":1}`
	for _, c := range []struct {
		name, body string
		headers    []string
	}{
		{"legacy", legacyBody("tools/call", "{"+params+"}"), nil},
		{"modern", modernBody("tools/call", params), modernHeaders("tools/call", params)},
		{"legacy, in a session", legacyBody("tools/call", "{"+params+"}"),
			[]string{"Mcp-Session-Id", strings.Repeat("A", 26)}},
		{"legacy, asking for progress", legacyBody("tools/call", "{"+params+`,"_meta":{"progressToken":1}}`), []string{"Accept", "application/json, text/event-stream"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				a := httptest.NewRecorder()
				h.bus.ServeHTTP(a, request(b.Context(), c.body, c.headers...))
				if a.Code != 200 || !bytes.Contains(a.Body.Bytes(), []byte("Rex")) {
					b.Fatal(a.Code, a.Body)
				}
			}
		})
	}
}

// instant is an upstream that answers at once.
type instant struct{ answer mcpbus.Result }

func (i instant) Call(context.Context, storage.Capability, toolplan.Tool, json.RawMessage) (mcpbus.Result, error) {
	return i.answer, nil
}
