package registry_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/hop"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/registry/openapi"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// Decision 61.
func TestUpstreamThatIsTheBusItselfIsRefused(t *testing.T) {
	h := newFixture(t)
	cookies := []string{h.developer("mina"), h.visitor(h.user("root", storage.RoleAdmin))}
	for _, url := range []string{
		"https://id.example.com/api/mcp", "https://id.example.com/api/mcp/", "https://id.example.com/api/mcp?x=1",
		"https://id.example.com/api/mcp/b/agents",
		"https://ID.Example.COM/api/mcp", "https://id.example.com:443/api/mcp", "https://id.example.com./api/mcp",
		"http://id.example.com/api/mcp", "http://id.example.com:80/api/mcp",
		"https://id.example.com/api/%6dcp", "https://id.example.com/%61pi%2Fmcp", "https://id.example.com/api/%256dcp",
		"https://id.example.com//api//mcp",
		"https://id.example.com/api/./mcp", "https://id.example.com/x/../api/mcp",
		"https://id.example.com/x/%2e%2e/api/mcp/b/x", "HTTPS://id.example.com/api/mcp",
	} {
		for _, cookie := range cookies {
			for _, more := range []string{"", `,"tools_static":[{"name":"t"}]`, `,"openapi":` + document("a")} {
				a := h.want(h.register(cookie, `{"member":"m","upstream_url":"`+url+`"`+more+`}`), 400, openapi.ErrcodeBadUpstream, url+more)
				if !strings.Contains(a.body.Msg, "the bus itself") {
					t.Errorf("%s is refused with %q", url, a.body.Msg)
				}
			}
		}
		h.want(h.request("POST", all+"/preview", cookies[0], strings.NewReader(`{"upstream_url":"`+url+`"}`)), 400, openapi.ErrcodeBadUpstream, "a preview of "+url)
	}
	for _, url := range []string{
		"https://id.example.com", "https://id.example.com/api/mcpx", "https://id.example.com/api",
		"https://id.example.com:8443/api/mcp", "https://mcp.example.com/api/mcp", "https://id.example.com/mcp",
	} {
		h.want(h.register(cookies[0], `{"member":"m","upstream_url":"`+url+`"}`), 200, 1, url)
	}
}

func TestBusOfAnAddressIsKnownInEverySpellingOfIt(t *testing.T) {
	for base, same := range map[string][]string{
		"http://127.0.0.1:8080": {"127.0.0.1:8080", "127.1:8080", "0x7f.0.0.1:8080", "2130706433:8080",
			"[::ffff:127.0.0.1]:8080", "localhost:8080", "LOCALHOST.:8080"},
		"http://[::1]:8080": {"[::1]:8080", "[0:0:0:0:0:0:0:1]:8080"},
		"http://localhost":  {"localhost", "localhost:80", "127.0.0.1"},
	} {
		h := newFixture(t, func(c *registry.Config) { c.BaseURL = base })
		mina := h.user("mina", storage.RoleDeveloper)
		for _, host := range same {
			_, err := h.registry.Register(t.Context(), mina, registry.Request{Member: "m",
				UpstreamURL: "http://" + host + "/api/mcp"})
			if err == nil || !strings.Contains(err.Error(), "the bus itself") {
				t.Errorf("%s registers http://%s/api/mcp: %v", base, host, err)
			}
		}
		if _, err := h.registry.Register(t.Context(), mina, registry.Request{Member: "m",
			UpstreamURL: "http://127.0.0.1:9999/api/mcp"}); err != nil {
			t.Errorf("%s refuses another port: %v", base, err)
		}
	}
}

// The service's own document may be registered, but no way round through the bus.
func TestToolsThatLeadToTheBusAreLeftOut(t *testing.T) {
	h := newFixture(t)
	mina := h.developer("mina")
	send := func(url string, paths ...string) response {
		var items []string
		for i, p := range paths {
			var params []string
			for _, name := range []string{"a", "b"} {
				if strings.Contains(p, "{"+name+"}") {
					params = append(params, fmt.Sprintf(`{"name":%q,"in":"path","required":true,"schema":{"type":"string"}}`, name))
				}
			}
			items = append(items, fmt.Sprintf(`%q:{"post":{"operationId":"t%d","parameters":[%s]}}`, p, i, strings.Join(params, ",")))
		}
		return h.register(mina, `{"member":"m","upstream_url":"`+url+`","openapi":{"openapi":"3.0.3","paths":{`+strings.Join(items, ",")+`}}}`)
	}
	for _, c := range []struct {
		url   string
		paths []string
		left  int
	}{
		{base, []string{"/api/mcp", "/api/mcp/b/{a}", "/api/v1/quota", "/api/console/capabilities/{a}", "/oauth/token"}, 2},
		{base, []string{"/{a}", "/api/{a}", "/{a}/{b}", "/api/mc{a}", "/a{a}", "/api/%6{a}", "/ok"}, 6},
		{base, []string{"/api/%6dcp", "/api//mcp", "/api/mcp?x=1", "/api/mcp/", "/api/mcpx/{a}", "/ai/{a}"}, 4},
		{base + "/api", []string{"/mcp", "/{a}", "/v1/{a}"}, 2},
		{"https://ID.example.com:443/api/", []string{"/mcp", "/v1/{a}"}, 1},
		{"https://api.example.com", []string{"/api/mcp", "/{a}", "/api/mcp/b/{a}"}, 0},
	} {
		a := h.want(send(c.url, c.paths...), 200, 1, fmt.Sprint(c.url, c.paths))
		if len(a.body.Data.Skipped) != c.left || a.body.Data.ToolCount != len(c.paths)-c.left {
			t.Errorf("%s with %q = %s, want %d left out", c.url, c.paths, a.text, c.left)
		}
		for _, s := range a.body.Data.Skipped {
			if !strings.Contains(s.Reason, "the bus itself") || !strings.HasPrefix(s.Pointer, "/paths/") {
				t.Errorf("%s: left out is %v", c.url, s)
			}
		}
	}
	h.want(send(base, "/api/mcp"), 400, openapi.ErrcodeEmpty, "nothing but the bus")
	a := h.want(h.register(mina, `{"member":"s","upstream_url":"`+base+`","tools_static":[{"name":"a","httpMethod":"post","path":"/api/mcp"},{"name":"b","httpMethod":"get","path":"/api/v1/quota"}]}`), 200, 1, "a list by hand")
	if a.body.Data.ToolCount != 1 || len(a.body.Data.Skipped) != 1 {
		t.Errorf("of a list by hand: %s, want one left out", a.text)
	}
}

// A bus that is registered by another name is found out when it is asked.
func TestDiscoveryOfARegistrationSaysWhereItComesFrom(t *testing.T) {
	var marked string
	h := newFixture(t, func(c *registry.Config) {
		c.Discoverer = discoverer(func(ctx context.Context, c storage.Capability) (toolplan.Discovery, error) {
			header := map[string][]string{}
			hop.Mark(ctx, header)
			marked = strings.Join(header[hop.Header], "|")
			return upstreams{}.Discover(ctx, c)
		})
	})
	h.want(h.register(h.developer("mina"), `{"member":"m","upstream_url":"https://alias.example.net/api/mcp"}`), 200, 1, "a quick registration")
	if marked != hop.ID(base) {
		t.Errorf("the upstream is asked with %q, want %q", marked, hop.ID(base))
	}
}
