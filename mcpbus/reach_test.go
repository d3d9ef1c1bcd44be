package mcpbus_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

// Decisions 53 and 55: what a user has chosen is what is listed and called, and no more.
func TestScopeOpensWhatItNames(t *testing.T) {
	h := bundled(t)
	all := []string{"maths__add", "pets__addPet", "pets__dropPet", "pets__getPet"}
	reads := []string{"maths__add", "pets__getPet"}
	for _, c := range []struct {
		scope, path string
		want        []string
	}{
		{"tools", "/api/mcp", all},
		{"tools/read", "/api/mcp", reads},
		{"tools:b:support", "/api/mcp", reads},
		{"tools:b:other", "/api/mcp", all[1:]},
		{"tools:b:gone", "/api/mcp", nil},
		{"tools:pets", "/api/mcp", all[1:]},
		{"tools:pets/dropPet", "/api/mcp", []string{"pets__dropPet"}},
		{"tools:pets/gone tools:gone/dropPet tools:gone", "/api/mcp", nil},
		{"openid tools:pets/dropPet tools/read", "/api/mcp", []string{"maths__add", "pets__dropPet", "pets__getPet"}},
		{"tools:pets/addPet tools:b:support tools:pets/addPet", "/api/mcp",
			[]string{"maths__add", "pets__addPet", "pets__getPet"}},
		{"tools:maths tools:pets/addPet", "/api/mcp", []string{"maths__add", "pets__addPet"}},
		{"tools/read", "/api/mcp/b/other", []string{"pets__getPet"}},
		{"tools:b:other tools/read", "/api/mcp/b/other", all[1:]},
	} {
		h.tokens.give("chosen", storage.Caller{AppID: "app1", UserID: "u2", Scope: c.scope, Audience: issuer}, time.Hour)
		if a := h.at(c.path, "chosen", "tools/list", ""); a.status != 200 || !slices.Equal(a.names(), c.want) {
			t.Errorf("%q at %s lists %d %s, want %q", c.scope, c.path, a.status, a.text, c.want)
		}
		for _, name := range all {
			a := h.at(c.path, "chosen", "tools/call", `{"name":"`+name+`"}`)
			if called := a.status == 200 && a.code() == 0; called != slices.Contains(c.want, name) {
				t.Errorf("%q at %s calls %s: %d %s", c.scope, c.path, name, a.status, a.text)
			}
		}
	}
}

// A request to an address that nothing in the scope opens is refused as a whole, with the scope that would.
func TestScopesOfSingleToolsOpenNoBundle(t *testing.T) {
	h := bundled(t)
	h.user("one", "u2", "tools:pets/getPet tools:maths")
	if a := h.at(supportPath, "one", "tools/list", ""); a.status != 403 || !strings.Contains(a.header.Get("WWW-Authenticate"), `scope="tools:b:support"`) {
		t.Errorf("%d %v", a.status, a.header)
	}
}

// MCP, authorization: the challenge names the tool and all that the token opens already.
func TestToolBeyondWhatWasChosenIsAskedForAlone(t *testing.T) {
	h := bundled(t)
	for scope, want := range map[string]string{
		"tools:maths":                        "tools:maths tools:pets",
		"tools/read":                         "tools/read tools:pets/dropPet",
		"openid tools:b:support":             "tools:b:support tools:pets/dropPet",
		"tools:pets/getPet tools:maths":      "tools:pets/getPet tools:maths tools:pets/dropPet",
		"tools:pets/getPet tools:pets/other": "tools:pets/other tools:pets/getPet tools:pets/dropPet",
	} {
		h.user("chosen", "u2", scope)
		if a := h.legacy("tools/call", `{"name":"pets__dropPet"}`, as("chosen")...); a.status != 403 || a.header.Get("WWW-Authenticate") != lacking(want) {
			t.Errorf("%q: %d %s, want %s", scope, a.status, a.header.Get("WWW-Authenticate"), want)
		}
	}
	h.allow("pets", access.Rule{Subject: "user:u2", Deny: true, Tools: []string{"dropPet"}})
	h.reload()
	h.user("chosen", "u2", "tools:pets/dropPet")
	if a := h.legacy("tools/call", `{"name":"pets__dropPet"}`, as("chosen")...); a.status != 200 || a.code() != -32602 {
		t.Errorf("a scope opens what an access list denies: %d %s", a.status, a.text)
	}
	if a := h.legacy("tools/list", "", as("chosen")...); len(a.names()) != 0 {
		t.Errorf("a scope lists what an access list denies: %s", a.text)
	}
}

// A client with a token of another tool must not be told that a hidden one exists.
func TestStepUpHidesWhatTheUserMayNotUse(t *testing.T) {
	h := bundled(t)
	h.allow("pets", access.Rule{Subject: "user:u1"})
	h.reload()
	h.user("chosen", "u2", "tools/read")
	hidden := h.legacy("tools/call", `{"name":"pets__dropPet"}`, as("chosen")...)
	absent := h.legacy("tools/call", `{"name":"pets__none"}`, as("chosen")...)
	if hidden.status != absent.status || hidden.text != absent.text {
		t.Errorf("a hidden tool: %d %s; one that is not there: %d %s", hidden.status, hidden.text, absent.status, absent.text)
	}
}

func TestOfferHoldsWhatTheUserMayUseOfWhatIsAskedFor(t *testing.T) {
	h := bundled(t)
	h.allow("pets", access.Rule{Subject: "everyone"}, access.Rule{Subject: "user:u2", Deny: true,
		Tools: []string{"dropPet"}}, access.Rule{Subject: "app:banned", Deny: true})
	h.reload()
	offer := func(sub, app, scope string) access.Offer { return must(h.bus.Offer(t.Context(), sub, app, scope))(t) }
	o := offer("u2", "app1", "openid tools")
	if got := fmt.Sprint(o.Tools, o.ReadOnly, o.Members, o.Bundles,
		o.Hidden); got != "3 2 [{maths  [{add calls add true}] 1 true} {pets  [{addPet calls addPet false} {getPet calls "+
		"getPet true}] 2 true}] [{other  2} {support  2}] 0" {
		t.Errorf("of all tools: %s", got)
	}
	if o := offer("u3", "app1", "tools:pets"); o.Tools != 3 || len(o.Members) != 1 || len(o.Bundles) != 0 {
		t.Errorf("of one capability: %+v", o)
	}
	if o := offer("u2", "banned", "tools"); o.Tools != 1 || len(o.Members) != 1 {
		t.Errorf("by an application that may not: %+v", o)
	}
	if o := offer("u2", "app1", "tools:b:support tools:pets/addPet"); o.Tools != 3 || len(o.Bundles) != 1 ||
		o.Members[1].Whole {
		t.Errorf("of a bundle and a tool: %+v", o)
	}
	if o := offer("u2", "app1", "openid email"); o.Tools != 0 || o.Members != nil || o.Bundles != nil {
		t.Errorf("of no tools: %+v", o)
	}
}

// A page with 10,000 tools would help nobody to choose.
func TestOfferIsBounded(t *testing.T) {
	h := emptyFixture(t)
	for i := range 25 {
		c := capability(fmt.Sprintf("m%02d", i), "https://m.example.com")
		c.Label = strings.Repeat("长", 300)
		tool := rest("get", "get")
		tool.Description = "first\nsecond " + strings.Repeat("x", 500)
		h.register(c, tool)
	}
	for i := range 5 {
		h.fill(fmt.Sprintf("big%d", i), 1995)
	}
	h.open()
	o := must(h.bus.Offer(t.Context(), "u1", "app1", "tools"))(t)
	shown := 0
	for _, m := range o.Members {
		shown += len(m.Tools)
		if len(m.Label) > 170 || len(m.Tools[0].Description) > 170 || strings.Contains(m.Tools[0].Description, "second") {
			t.Errorf("it says %q, %q", m.Label, m.Tools[0].Description)
		}
	}
	if o.Tools != 10_000 || len(o.Members) != access.MaxOfferedMembers || o.Hidden != 10 ||
		shown > access.MaxOfferedTools || o.Members[0].Count != 1995 {
		t.Errorf("%d tools, %d capabilities, %d hidden, %d shown", o.Tools, len(o.Members), o.Hidden, shown)
	}
}
