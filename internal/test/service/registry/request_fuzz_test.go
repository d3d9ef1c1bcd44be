package registry_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
)

// Every body is answered 200 or 400, and the answer is what is stored.
func FuzzARegistrationIsTakenWholeOrNotAtAll(f *testing.F) {
	for _, seed := range []string{
		standard("shop", "a", "b"), `{"member":"shop","upstream_url":"https://api.example.com"}`,
		`{"member":"shop","upstream_url":"https://api.example.com","tools_static":[{"name":"a","httpMethod":"get","path":"/:x","inputSchema":{"properties":{"x":{}}}}]}`,
		`{"member":"shop","upstream_url":"http://10.0.0.1","auth_type":"api_key","auth_in":"query","auth_name":"k","auth_secret":"s","publish":false,"resolve_refs":true,"x":1}`,
		`{"member":"shop","member":"b"}`, `{"label":"\ud800","a":":,{[","b":{"c":[1,{"d":2}]}}`, "\ufeff{}", "null", "{", `{"openapi":"{}"}`,
	} {
		f.Add(seed)
	}
	h := newFixture(f, func(c *registry.Config) { c.Discoverer = nil })
	root := h.user("root", storage.RoleAdmin)
	cookie := h.visitor(root)
	f.Fuzz(func(t *testing.T, body string) {
		h.TB = t
		a := h.register(cookie, body)
		switch {
		case a.status == 400 && a.body.Code >= 4001 && a.body.Code <= 4006 && a.body.Errcode == a.body.Code &&
			a.body.Msg != "":
			return
		case a.status != 200 || a.body.Code != 1:
			t.Fatalf("%q = %d %s", body, a.status, a.text)
		}
		var sent map[string]json.RawMessage
		if err := json.Unmarshal([]byte(strings.TrimPrefix(body, "\ufeff")), &sent); err != nil {
			t.Fatalf("%q is taken: %v", body, err)
		}
		got, err := h.registry.Show(t.Context(), root, a.body.Data.Member)
		if err != nil || len(got.Tools) != a.body.Data.ToolCount || got.Kind != a.body.Data.Kind {
			t.Fatalf("%q: %s is stored as %+v, %v", body, a.text, got, err)
		}
		if err := h.registry.Remove(t.Context(), root, a.body.Data.Member); err != nil {
			t.Fatal(err)
		}
	})
}
