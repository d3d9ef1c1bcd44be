package mcpbus_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/internal/test/backend"
	"github.com/keystile/keystile/internal/test/hiddentext"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/registry/openapi"
	"github.com/keystile/keystile/storage"
)

// Texts of a document or a list filled in by hand.
func TestListOfRegisteredToolsShowsVisibleTextOnly(t *testing.T) {
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
			n := newNode(t, backend.New(t), storage.NewMasterKey(), &bill{}, func(*gateway.Config) {})
			text, _ := json.Marshal("a" + c.text + "b")
			quoted, schema := string(text), hiddentext.Schema(c.text)
			document := `{"openapi":"3.1.0","paths":{"/x/{q}":{"post":{"operationId":` + quoted + `,"summary":` + quoted +
				`,"parameters":[{"name":` + quoted + `,"in":"query","description":` + quoted + `,"schema":` + schema + `}]` +
				`,"requestBody":{"content":{"application/json":{"schema":` + schema + `}}}}}}}`
			parsed := must(openapi.Parse(t.Context(), []byte(document), openapi.Options{Member: "rest", ResolveRefs: true}))(t)
			byHand := must(openapi.StaticTools(t.Context(), []byte(`[{"name":"named","description":`+quoted+`,"inputSchema":`+schema+`}]`),
				openapi.Options{Member: "hand"}))(t)
			must(n.store.SaveCapability(t.Context(), capability("rest", "https://rest.example.com"), parsed.Tools))(t)
			must(n.store.SaveCapability(t.Context(), capability("hand", "https://hand.example.com"), byHand.Tools))(t)
			if err := n.bus.Reload(t.Context()); err != nil {
				t.Fatal(err)
			}
			app := must(n.store.SaveApp(t.Context(), storage.App{Name: "App", Domains: []string{"app.example.com"}}))(t)
			form := "grant_type=client_credentials&client_id=" + app.ID + "&client_secret=" + app.AppKey().Reveal()
			issued := n.post(t, n.provider, "/oauth/token", "application/x-www-form-urlencoded", "", form)
			bearer, _ := issued["access_token"].(string)
			body := n.post(t, n.bus, mcpbus.Path, "application/json", bearer, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)

			texts := 0
			hiddentext.Each(any(body), func(s string) {
				if texts++; !c.want(s) {
					t.Errorf("tools/list has %q", s)
				}
			})
			if texts < 50 {
				t.Errorf("%d texts were listed, want two tools", texts)
			}
			list, _ := body["result"].(map[string]any)["tools"].([]any)
			var names []string
			for _, one := range list {
				names = append(names, one.(map[string]any)["name"].(string))
			}
			if want := []string{"hand__named", "rest__" + parsed.Tools[0].Name}; !slices.Equal(names, want) {
				t.Errorf("%q are listed, want %q", names, want)
			}
		})
	}
}

// post sends a body, and reads the answer.
func (n *node) post(t *testing.T, to http.Handler, path, kind, bearer, text string) (body map[string]any) {
	t.Helper()
	r := httptest.NewRequest("POST", issuer+path, strings.NewReader(text))
	r.Header.Set("Content-Type", kind)
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	w := httptest.NewRecorder()
	if to.ServeHTTP(w, r); w.Code != 200 {
		t.Fatalf("%s = %d %s", path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
		t.Fatal(err)
	}
	return body
}
