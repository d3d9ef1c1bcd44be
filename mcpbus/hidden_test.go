package mcpbus_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/hiddentext"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage/toolplan"
)

// upstreamSaying is an MCP upstream whose tool says a text wherever it can.
func upstreamSaying(t *testing.T, text string) *httptest.Server {
	quoted, _ := json.Marshal("a" + text + "b")
	return mcpUpstream(t, func(*http.Request, string, json.RawMessage) string {
		return `"tools":[{"name":"found","title":` + string(quoted) + `,"description":` + string(quoted) +
			`,"annotations":{"title":` + string(quoted) + `},"inputSchema":` + hiddentext.Schema(text) + `}]`
	})
}

// Texts of an upstream or an older version. internal/test/service/mcpbus tries those of documents and
// lists filled in by hand.
func TestListShowsVisibleTextOnly(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       func(string) bool
	}{
		{"hidden", strings.Join(slices.Sorted(maps.Values(hiddentext.Hidden)), ""), func(s string) bool {
			return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
		}},
		{"legible", strings.Join(hiddentext.Legible, "; "), func(s string) bool {
			// lag the name in the API
			return !strings.Contains(s, "汉") || strings.HasSuffix(s, "a"+strings.Join(hiddentext.Legible, "; ")+"b") ||
				strings.HasPrefix(s, `"a`) && strings.HasSuffix(s, `…" in the API.`) // the name alone, cut
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := emptyFixture(t)
			h.register(capability("old", "https://old.example.com"), toolplan.Tool{Name: "stored", Method: "get",
				Description: "a" + c.text + "b", InputSchema: json.RawMessage(hiddentext.Schema(c.text)),
				Call: &toolplan.Call{Template: "/"}})
			quick := quick("quick")
			quick.UpstreamURL = upstreamSaying(t, c.text).URL
			u := localUpstreams(t)
			found, err := u.Discover(t.Context(), quick)
			if err != nil || len(found.Tools) != 1 {
				t.Fatalf("the upstream lists %v, %v, want a tool", found, err)
			}
			h.register(quick, found.Tools...)
			h.open(func(b *mcpbus.Config) { b.Instructions, b.Name = "a"+c.text+"b", "a"+c.text+"b" })

			texts := 0
			for _, call := range []string{`"tools/list"`, `"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}`} {
				answer := h.post(`{"jsonrpc":"2.0","id":1,"method":` + call + `}`)
				hiddentext.Each(any(answer.body), func(s string) {
					if texts++; !c.want(s) {
						t.Errorf("%s has %q", call, s)
					}
				})
			}
			if texts < 50 {
				t.Errorf("%d texts were listed, want two tools and a server", texts)
			}
			h.wantList("all of them", "old__stored", "quick__found")
		})
	}
}
