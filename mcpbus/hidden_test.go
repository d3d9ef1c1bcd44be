package mcpbus_test

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/hiddentext"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage/toolplan"
)

// schemaWith is a schema with a text in every place.
func schemaWith(text string) string {
	quoted, _ := json.Marshal("a" + text + "b")
	return strings.ReplaceAll(`{"type":"object","title":S,"description":S,"required":["q"],"properties":{"q":{"type":"string","title":S,"description":S,"enum":[S],"default":S,"format":S,"pattern":S,"const":S},
		"o":{"type":"object","description":S,"properties":{S:{"const":S},"p":{"items":{"enum":[S]}}},"default":{S:S}}}}`, "S", string(quoted))
}

// upstreamSaying is an MCP upstream whose tool says a text wherever it can.
func upstreamSaying(t *testing.T, text string) *httptest.Server {
	quoted, _ := json.Marshal("a" + text + "b")
	return mcpUpstream(t, func(*http.Request, string, json.RawMessage) string {
		return `"tools":[{"name":"found","title":` + string(quoted) + `,"description":` + string(quoted) +
			`,"annotations":{"title":` + string(quoted) + `},"inputSchema":` + schemaWith(text) + `}]`
	})
}

// mcpUpstream is an MCP upstream whose results have the members that result returns for a request, its method and the
// arguments of the tool.
func mcpUpstream(t *testing.T,
	result func(r *http.Request, method string, arguments json.RawMessage) string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Arguments json.RawMessage }
		}
		body, _ := io.ReadAll(r.Body)
		json.Unmarshal(body, &m)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"result":{"resultType":"complete",`+
			result(r, m.Method, m.Params.Arguments)+`}}`)
	}))
	t.Cleanup(s.Close)
	return s
}

// localUpstreams returns Upstreams that may call servers of the test.
func localUpstreams(t *testing.T) *mcpbus.Upstreams {
	u := must(mcpbus.NewUpstreams(mcpbus.UpstreamsConfig{AllowPrivateUpstreams: []string{"127.0.0.0/8"},
		Log: quiet}))(t)
	t.Cleanup(func() { u.Close(context.Background()) })
	return u
}

// Whatever a document, a list filled in by hand, an upstream or an older version says.
func TestNothingButVisibleTextIsListed(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       func(string) bool
	}{
		{"hidden", strings.Join(slices.Sorted(maps.Values(hiddentext.Hidden)), ""), func(s string) bool {
			return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
		}},
		{"legible", strings.Join(hiddentext.Legible, "; "), func(s string) bool {
			// behind the name in the API
			return !strings.Contains(s, "汉") || strings.HasSuffix(s, "a"+strings.Join(hiddentext.Legible, "; ")+"b") ||
				strings.HasPrefix(s, `"a`) && strings.HasSuffix(s, `…" in the API.`) // the name alone, cut
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := emptyFixture(t)
			quoted, _ := json.Marshal("a" + c.text + "b")
			document := `{"openapi":"3.1.0","paths":{"/x/{q}":{"post":{"operationId":` + string(quoted) + `,"summary":` + string(quoted) + `,"parameters":[{"name":` + string(quoted) + `,"in":"query","description":` + string(quoted) + `,"schema":` + schemaWith(c.text) + `}],"requestBody":{"content":{"application/json":{"schema":` + schemaWith(c.text) + `}}}}}}}`
			parsed := must(registry.Parse(t.Context(), []byte(document), registry.Options{Member: "rest", ResolveRefs: true}))(t)
			h.register(capability("rest", "https://rest.example.com"), parsed.Tools...)
			byHand := must(registry.StaticTools(t.Context(), []byte(`[{"name":"named","description":`+string(quoted)+`,"inputSchema":`+schemaWith(c.text)+`}]`), registry.Options{Member: "hand"}))(t)
			h.register(capability("hand", "https://hand.example.com"), byHand.Tools...)
			h.register(capability("old", "https://old.example.com"), toolplan.Tool{Name: "stored", Method: "get", Description: "a" + c.text + "b", InputSchema: json.RawMessage(schemaWith(c.text)), Call: &toolplan.Call{Template: "/"}})
			quick := quick("quick")
			quick.UpstreamURL = upstreamSaying(t, c.text).URL
			u := localUpstreams(t)
			found, _, err := u.Discover(t.Context(), quick)
			if err != nil || len(found) != 1 {
				t.Fatalf("the upstream lists %v, %v, want a tool", found, err)
			}
			h.register(quick, found...)
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
			if texts < 100 {
				t.Errorf("%d texts were listed, want four tools and a server", texts)
			}
			h.wantList("all of them", "hand__named", "old__stored", "quick__found", "rest__"+parsed.Tools[0].Name)
		})
	}
}
