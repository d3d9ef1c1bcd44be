package mcpbus_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
)

// Decision 86.
func TestRepeatedToolCallIsChargedOnceAndMadeEachTime(t *testing.T) {
	s := newSite(t, func(c *gateway.Config) {
		c.ErrorWriters = map[string]func(http.ResponseWriter, *http.Request, int, string){mcpbus.Path: mcpbus.WriteError}
	})
	s.register(capability("shop", "https://shop.example.com"), rest("post", "buy"), rest("post", "sell"))
	s.open(func(c *mcpbus.Config) { c.Verifier, c.Meter = s.opened, s.gateway })
	s.guarded = s.gateway.Front(s.gateway.Meter("", s.bus))
	own, bearer := s.app, s.bearer()
	s.app = must(s.store.SaveApp(t.Context(), storage.App{Name: "Other", Domains: []string{"other.example.com"}}))(t)
	foreign := s.bearer()
	call := func(key, tool, arguments string) answer {
		r := httptest.NewRequest("POST", issuer+"/api/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"shop__`+tool+`","arguments":`+arguments+`}}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+bearer)
		r.Header.Set("Idempotency-Key", key)
		return send(s.guarded, r)
	}
	used := func(app storage.App) int64 {
		q, err := s.gateway.Billing().Quota(t.Context(), app, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return q.Month[gateway.ProductMCP]
	}
	for _, c := range []struct {
		key, tool, arguments string
		want                 int64
	}{
		{"k", "buy", `{"id":1}`, 1},
		{`"k"`, "buy", `{"id":1}`, 1},
		{"k", "buy", `{"id":1}`, 2}, // one is free
		{"k", "buy", `{"id":2}`, 3},
		{"k", "sell", `{"id":1}`, 4},
		{"K", "buy", `{"id":1}`, 5},
		{"m", "buy", `{"id":1},"_meta":{"a":"one"}`, 6},
		{"m", "buy", `{"id":1},"_meta":{"a":"two"}`, 6}, // of which the tool sees nothing
	} {
		if a := call(c.key, c.tool, c.arguments); a.status != 200 || a.code() != 0 {
			t.Fatalf("%+v = %d %s", c, a.status, a.text)
		}
		if got := used(own); got != c.want {
			t.Errorf("after %+v: charged %d times, want %d", c, got, c.want)
		}
	}
	if made := len(s.calls.seen); made != 8 {
		t.Errorf("the upstream was called %d times, want 8", made)
	}
	bearer = foreign
	if call("k", "buy", `{"id":1}`); used(s.app) != 1 {
		t.Errorf("another application is charged %d times for its call under the same key, want 1", used(s.app))
	}
	if a := call("a b", "buy", `{"id":1}`); a.status != 400 || !strings.Contains(a.text, `"jsonrpc"`) || !strings.Contains(a.text, "Idempotency-Key") {
		t.Errorf("a key that is none = %d %s", a.status, a.text)
	}
}
