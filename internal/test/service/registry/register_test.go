package registry_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/registry/openapi"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/toolplan"
)

func TestComplaintAboutTheConfigComesAtOnce(t *testing.T) {
	_, err := registry.New(t.Context(), registry.Config{BaseURL: "id.example.com",
		Origins: []string{"https://a.example.com/path"}, AllowPrivateUpstreams: []string{"everything"}})
	for _, field := range []string{"Store", "Visitors", `"id.example.com"`, `"https://a.example.com/path"`, "AllowPrivateUpstreams"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("New() = %v, want %s named", err, field)
		}
	}
}

func TestReferencesAreResolvedWhereTheServerOrTheRequestSaysSo(t *testing.T) {
	const doc = `{"openapi":"3.0.3","paths":{"/a":{"post":{"operationId":"a","requestBody":{"content":{"application/json":{"schema":{"properties":{"p":{"$ref":"#/components/schemas/P"}}}}}}}}},"components":{"schemas":{"P":{"type":"object","properties":{"deep":{"type":"string"}}}}}}`
	for _, c := range []struct {
		server   bool
		request  string
		resolved bool
	}{{false, "", false}, {true, "", true}, {false, `"resolve_refs":true,`, true}, {true, `"resolve_refs":false,`, false}, {true, `"resolve_refs":null,`, true}} {
		h := newFixture(t, func(rc *registry.Config) { rc.ResolveRefs = c.server })
		h.want(h.register(h.developer("mina"), `{`+c.request+`"member":"m","upstream_url":"https://api.example.com","openapi":`+doc+`}`), 200, 1, c.request)
		_, tools, _ := h.store.Tools(t.Context(), "m")
		if got := len(tools) == 1 && bytes.Contains(tools[0].InputSchema, []byte("deep")); got != c.resolved {
			t.Errorf("server %t, %s resolved: %t, want %t", c.server, c.request, got, c.resolved)
		}
	}
}

func TestPrivateUpstreamThatIsAllowedIsNotWarnedOf(t *testing.T) {
	h := newFixture(t, func(c *registry.Config) { c.AllowPrivateUpstreams = []string{"10.0.0.0/8", "localhost:9000"} })
	mina := h.developer("mina")
	for url, warned := range map[string]bool{"http://10.1.2.3": false, "http://localhost:9000": false,
		"http://localhost:9001": true, "http://192.168.0.1": true, "https://api.example.com": false} {
		a := h.register(mina, `{"member":"m","upstream_url":"`+url+`","openapi":`+document("a")+`}`)
		if h.want(a, 200, 1, url); strings.Contains(a.body.Data.Warning, "private") != warned {
			t.Errorf("%s: warning = %q, want one: %t", url, a.body.Data.Warning, warned)
		}
	}
}

func TestPreviewStoresNothingTellsNobodyAndNeedsNoName(t *testing.T) {
	h := newFixture(t, func(c *registry.Config) { c.Discoverer = upstreams{} })
	mina := h.developer("mina")
	for body, code := range map[string]int{
		`{"openapi":` + document("a", "b") + `}`: 1, standard("shop", "a", "b"): 1,
		`{"tools_static":[{"name":"a"},{"name":"b"}]}`: 1, `{"member":"a__b","openapi":` + document("a") + `}`: 4004,
		`{"upstream_url":"ftp://x","openapi":` + document("a") + `}`: 4005, `{"openapi":{"openapi":"3.0.3"}}`: 4001, `{"auth_type":"x"}`: 4006,
	} {
		a := h.request("POST", all+"/preview", mina, strings.NewReader(body))
		if a.body.Code != code || code == 1 && (len(a.body.Data.Tools) != 2 || a.body.Data.ToolCount != 2 ||
			strings.Contains(a.text, "template")) {
			t.Errorf("preview of %s = %d %s, want code %d", body, a.status, a.text, code)
		}
	}
	a := h.request("POST", all+"/preview", mina, strings.NewReader(`{"upstream_url":"https://mcp.example.com"}`))
	if h.want(a, 200, 1, "of a quick one"); a.body.Data.Kind != "mcp" || a.body.Data.ToolCount != 0 {
		t.Errorf("preview of a quick registration = %s", a.text)
	}
	if h.stored("shop") != "" || h.reloads != 0 || len(h.events) != 0 {
		t.Errorf("stored %q, told %d times, noted %v", h.stored("shop"), h.reloads, h.events)
	}
}

func TestLongNamesAreCutForTheirCapability(t *testing.T) {
	h := newFixture(t)
	member := strings.Repeat("m", 48)
	h.want(h.register(h.developer("mina"), standard(member, strings.Repeat("o", 80))), 200, 1, "a long name")
	_, tools, err := h.store.Tools(t.Context(), member)
	if err != nil || len(tools) != 1 || len(member+"__"+tools[0].Name) != 64 {
		t.Errorf("stored are %v, %v, want a name of 64 with its capability's", tools, err)
	}
}

func TestBusIsReloadedAfterEachChangeAndNothingElse(t *testing.T) {
	h := newFixture(t)
	mina, ada := h.developer("mina"), h.developer("ada")
	h.register(mina, standard("a", "t"))
	h.register(mina, standard("b", "t"))
	h.register(ada, standard("a", "t"))
	h.register(mina, `{"member":"a","upstream_url":"https://api.example.com","openapi":{}}`)
	h.request("DELETE", all+"/a", ada, nil)
	h.request("DELETE", all+"/a", mina, nil)
	h.request("DELETE", all+"/a", mina, nil)
	h.request("GET", all+"/b", mina, nil)
	if h.reloads != 3 {
		t.Errorf("the bus was told %d times, want 3", h.reloads)
	}
	var details []string
	owner := must(h.store.Capability(t.Context(), "b"))(t).Owner
	for _, e := range h.events {
		if e.Kind != event.Registration || e.User != owner || e.IP != "192.0.2.1" {
			t.Errorf("noted is %+v", e)
		}
		what, _, _ := strings.Cut(e.Detail, ":")
		details = append(details, what)
	}
	if want := []string{"capability register a by " + owner, "capability register b by " + owner,
		"capability remove a by " + owner}; !slices.Equal(details, want) {
		t.Errorf("noted are %q, want %q", details, want)
	}
}

func TestToolThatNoRequestCanBeMadeOfIsLeftOut(t *testing.T) {
	const odd = `"/a/..?x=1":{"get":{}},"/b?c=%zz":{"post":{}}`
	h := newFixture(t)
	mina := h.developer("mina")
	send := func(paths, more string) response {
		return h.register(mina, `{"member":"m","upstream_url":"https://api.example.com",`+more+`"openapi":{"openapi":"3.0.3","paths":{`+paths+`}}}`)
	}
	want := []toolplan.Skip{
		{Pointer: "/lable", Reason: "a field that is not known here"},
		{Pointer: "/paths/~1a~1..?x=1/get", Reason: `the template has the segment ".."`},
		{Pointer: "/paths/~1b?c=%zz/post", Reason: "the query of the template cannot be read"},
	}
	a := h.want(send(odd+`,"/c":{"get":{"operationId":"c"}}`, `"lable":"Shop",`), 200, 1, "one tool that can be called")
	if !slices.Equal(a.body.Data.Skipped, want) || !strings.HasSuffix(h.stored("m"), " c") || a.body.Data.ToolCount != 1 {
		t.Errorf("%s, stored %s; want left out %v", a.text, h.stored("m"), want)
	}
	a = h.want(send(odd, ""), 400, openapi.ErrcodeEmpty, "none")
	if !slices.Equal(a.body.Data.Skipped, want[1:]) || !strings.HasSuffix(h.stored("m"), " c") {
		t.Errorf("%s, stored %s; want left out %v", a.text, h.stored("m"), want[1:])
	}
	a = h.register(mina, `{"member":"m","upstream_url":"https://api.example.com","tools_static":[{"name":"a","httpMethod":"get","path":"/b?c=%zz"},{"name":"d"}]}`)
	if s := a.body.Data.Skipped; len(s) != 1 ||
		s[0] != (toolplan.Skip{Pointer: "/0", Reason: "the query of the template cannot be read"}) {
		t.Errorf("of a list %v are left out: %s", s, a.text)
	}
}

// Decision 37.
func TestPiecesAreListedUpToAHundredWhereverTheyComeFrom(t *testing.T) {
	h := newFixture(t, func(c *registry.Config) {
		c.Discoverer = discoverer(func(context.Context, storage.Capability) (toolplan.Discovery, error) {
			return toolplan.Discovery{Tools: []toolplan.Tool{{Name: "t", Description: "t", InputSchema: []byte(`{}`)}},
				Skipped: make([]toolplan.Skip, 120)}, nil
		})
	})
	mina := h.developer("mina")
	var paths strings.Builder
	for i := range 120 {
		fmt.Fprintf(&paths, `"/%d":null,`, i)
	}
	for _, document := range []string{"", `,"openapi":{"openapi":"3.0.3","paths":{` + paths.String() + `"/a":{"get":{}}}}`} {
		a := h.want(h.register(mina, `{"x":1,"member":"m","upstream_url":"https://api.example.com"`+document+`}`), 200, 1, "much that is left out")
		if s := a.body.Data.Skipped; len(s) != 100 || s[0].Pointer != "/x" {
			t.Errorf("%d pieces are listed, the first %v, want 100 and /x", len(s), s[:1])
		}
	}
}

func TestRegisterFailsIfItCannotBeAudited(t *testing.T) {
	h := newFixture(t)
	mina := h.developer("mina")
	h.want(h.register(mina, standard("quick", "t")), 200, 1, "a registration")
	h.unwritten = errors.New("the trail is away")
	noted := len(h.events)
	for _, a := range []response{
		h.register(mina, standard("second", "t")),
		h.request("DELETE", all+"/quick", mina, nil),
	} {
		done := strings.Contains(a.text, "the change is made") && strings.Contains(a.text, "nothing has to be sent again")
		if a.status != 503 || a.header.Get("Retry-After") != "" || !done { // a client that obeys it sends again what is done
			t.Errorf("with the trail away it answers %d %s", a.status, a.text)
		}
	}
	if noted == 0 || len(h.events) != noted {
		t.Errorf("noted are %d, want the one from before", len(h.events))
	}
}
