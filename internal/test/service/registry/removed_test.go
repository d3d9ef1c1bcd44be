package registry_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
)

func TestRegistrationSaysWhichToolsItHasRemoved(t *testing.T) {
	h := newFixture(t, func(c *registry.Config) { c.Discoverer = upstreams{} })
	mina := h.developer("mina")
	if a := h.want(h.register(mina, standard("shop", "a", "b", "c")), 200, 1,
		"a registration"); strings.Contains(a.text, "removed") {
		t.Errorf("the first one has removed something: %s", a.text)
	}
	for _, c := range []struct{ body, want string }{
		{standard("shop", "a", "c", "d"), `"removed":["b"]`}, {standard("shop", "a", "c", "d", "e"), ""},
		// it lists search
		{`{"member":"shop","upstream_url":"https://tools.example.com/mcp"}`, `"removed":["a","c","d","e"]`},
		{`{"member":"shop","upstream_url":"https://tools.example.com/mcp","label":"x"}`, ""},
		{`{"member":"shop","upstream_url":"https://empty.example.com/mcp"}`, `"removed":["search"]`},
	} {
		a := h.want(h.register(mina, c.body), 200, 1, c.body)
		if c.want == "" && strings.Contains(a.text, "removed") || !strings.Contains(a.text, c.want) {
			t.Errorf("%s is answered %s, want %s", c.body, a.text, c.want)
		}
	}
}

// People mistype the name of a capability, or take yesterday's document.
func TestToolIsNotRemovedUnlessThatIsSaid(t *testing.T) {
	h := newFixture(t, func(c *registry.Config) { c.Discoverer = upstreams{} })
	mina := h.user("mina", storage.RoleDeveloper)
	register := func(q registry.Request) (registry.Registered, error) {
		q.Member = "shop"
		return h.registry.Register(t.Context(), mina, q)
	}
	refused := func(q registry.Request, names string) {
		t.Helper()
		before := h.stored("shop")
		q.KeepTools = true
		_, err := register(q)
		var no *reply.Failure
		if !errors.As(err, &no) || no.Status != 409 || !strings.Contains(no.Msg, names) ||
			!strings.Contains(no.Msg, "--replace") {
			t.Errorf("answered %v, want a refusal that names %s", err, names)
		}
		if h.stored("shop") != before {
			t.Errorf("stored is %s", h.stored("shop"))
		}
	}
	api := func(names ...string) registry.Request {
		return registry.Request{UpstreamURL: "https://api.example.com", OpenAPI: []byte(document(names...))}
	}
	for _, q := range []registry.Request{api("a", "b"), api("a", "b", "c")} {
		q.KeepTools = true
		if done, err := register(q); err != nil || done.Removed != nil {
			t.Fatalf("%+v %v", done.Removed, err)
		}
	}
	refused(api("a"), "b, c")
	refused(registry.Request{UpstreamURL: "https://tools.example.com/mcp"}, "a, b, c")
	refused(registry.Request{UpstreamURL: "https://empty.example.com/mcp"}, "a, b, c")
	refused(registry.Request{UpstreamURL: "https://broken.example.com/mcp"}, "a, b, c")
	refused(registry.Request{UpstreamURL: "https://api.example.com",
		StaticTools: []byte(`[{"name":"x","httpMethod":"get","path":"/x"}]`)}, "a, b, c")
	if done, err := register(api("a")); err != nil || !slices.Equal(done.Removed, []string{"b", "c"}) {
		t.Errorf("%+v %v", done.Removed, err)
	}
	if done, err := register(registry.Request{UpstreamURL: "https://tools.example.com/mcp"}); err != nil ||
		!slices.Equal(done.Removed, []string{"a"}) {
		t.Errorf("%+v %v", done.Removed, err)
	}
	// The list of an MCP endpoint is for the endpoint to decide.
	if _, err := register(registry.Request{UpstreamURL: "https://tools.example.com/mcp", Label: "x",
		KeepTools: true}); err != nil {
		t.Error(err)
	}
}
