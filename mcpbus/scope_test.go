package mcpbus_test

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

// user gives a token of a user by an application.
func (h *fixture) user(bearer, sub, scope string) {
	h.tokens.give(bearer, storage.Caller{AppID: "app1", UserID: sub, Scope: scope, Audience: issuer}, time.Hour)
}

func as(bearer string) []string { return []string{"Authorization", "Bearer " + bearer} }

const insufficient = `Bearer error="insufficient_scope", scope="%s", resource_metadata="https://id.example.com/.well-known/oauth-protected-resource/api/mcp"`

func lacking(scope string) string { return strings.Replace(insufficient, "%s", scope, 1) }

// unread is a body that nobody may read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) { u.t.Error("the body was read"); return 0, io.EOF }

// Decision 53, RFC 6750 3.1: an application that a user has let in to know who
// they are has not been let in to act for them.
func TestTokenWithoutAScopeForToolsCallsNothing(t *testing.T) {
	h := newFixture(t)
	for _, scope := range []string{"", "openid", "openid profile email", "app", "openid app", "apps", "toolss", "tools:",
		"tools:b:", "tools/", "tools/write", "tools:pets/", "Tools", "offline_access"} {
		h.user("poor", "u2", scope)
		for _, body := range []string{legacyBody("tools/call", `{"name":"pets__dropPet"}`), legacyBody("tools/list", ""), legacyBody("ping", ""), "no JSON", "[" + legacyBody("tools/list", "") + "]"} {
			a := h.post(body, as("poor")...)
			if a.status != 403 || a.header.Get("WWW-Authenticate") != lacking("tools") || a.body["jsonrpc"] != "2.0" ||
				a.body["id"] != nil || a.code() != -32000 || a.body["code"] != 403.0 || a.body["errcode"] != 403.0 ||
				a.body["msg"] != a.at("error.message") {
				t.Errorf("scope %q, %s = %d %v %s", scope, body, a.status, a.header, a.text)
			}
		}
		r := request(t.Context(), "", as("poor")...)
		r.Body = io.NopCloser(unread{t})
		send(h.bus, r)
	}
	if len(h.calls.seen) != 0 {
		t.Errorf("called %v", h.calls.seen)
	}
}

func TestScopesThatOpenEveryTool(t *testing.T) {
	h := newFixture(t)
	h.user("all", "u2", "openid tools")
	h.user("both", "u2", "tools tools:pets")
	h.tokens.give("machine", storage.Caller{AppID: "app1", Scope: "app", Audience: issuer}, time.Hour)
	for _, bearer := range []string{"all", "both", "machine"} {
		if names, _ := h.walk(as(bearer)...); len(names) != 4 {
			t.Errorf("%s finds %v", bearer, names)
		}
		if a := h.legacy("tools/call", getPet, as(bearer)...); a.status != 200 || a.code() != 0 {
			t.Errorf("%s calls: %d %s", bearer, a.status, a.text)
		}
	}
}

func TestTokenForACapabilityOpensThatAlone(t *testing.T) {
	h := newFixture(t)
	h.user("pets", "u2", "openid tools:pets")
	h.user("two", "u2", "tools:maths tools:pets tools:none")
	h.user("none", "u2", "tools:none")
	for bearer, want := range map[string][]string{
		"pets": {"pets__addPet", "pets__dropPet", "pets__getPet"},
		"two":  {"maths__add", "pets__addPet", "pets__dropPet", "pets__getPet"},
		"none": nil,
	} {
		if names, _ := h.walk(as(bearer)...); !slices.Equal(names, want) {
			t.Errorf("%s finds %v, want %v", bearer, names, want)
		}
	}
	if a := h.legacy("tools/call", getPet, as("pets")...); a.status != 200 || a.code() != 0 {
		t.Errorf("a tool of its own: %d %s", a.status, a.text)
	}
}

// MCP, authorization: a client whose token does not open a tool is told what would, with
// what the token opens already, or the client would lose that.
func TestToolBeyondTheScopeAsksForMore(t *testing.T) {
	h := newFixture(t)
	h.user("pets", "u2", "openid tools:pets")
	h.user("none", "u2", "tools:zoo tools:bar")
	for name, a := range map[string]answer{
		"legacy": h.legacy("tools/call", `{"name":"maths__add"}`, as("pets")...),
		"modern": h.modern("tools/call", `"name":"maths__add"`, as("pets")...),
	} {
		if a.status != 403 || a.header.Get("WWW-Authenticate") != lacking("tools:pets tools:maths") || a.body["id"] != 1.0 ||
			a.code() != -32000 || a.body["errcode"] != 403.0 {
			t.Errorf("%s: %d %v %s", name, a.status, a.header, a.text)
		}
	}
	a := h.legacy("tools/call", `{"name":"maths__add"}`, as("none")...)
	if a.header.Get("WWW-Authenticate") != lacking("tools:zoo tools:bar tools:maths") {
		t.Errorf("a token for others: %v", a.header)
	}
	var many []string
	for range 40 {
		many = append(many, "tools:"+strings.Repeat("x", len(many)+1))
	}
	h.user("many", "u2", strings.Join(many, " "))
	if a := h.legacy("tools/call", `{"name":"maths__add"}`, as("many")...); a.status != 403 || a.header.Get("WWW-Authenticate") != lacking("tools:maths") {
		t.Errorf("a token for very many: %d %v", a.status, a.header)
	}
	if charges, events := h.meter.bill(); charges != nil || events != nil || h.calls.seen != nil {
		t.Errorf("charged %v, noted %v, called %v", charges, events, h.calls.seen)
	}
}

func TestBatchKnowsNoToolBeyondTheScope(t *testing.T) {
	h := newFixture(t)
	h.user("pets", "u2", "tools:pets")
	a := h.post("["+legacyBody("tools/call", `{"name":"maths__add"}`)+"]", as("pets")...)
	b := h.post("["+legacyBody("tools/call", `{"name":"maths__none"}`)+"]", as("pets")...)
	if a.status != 200 || a.text != b.text || a.header.Get("WWW-Authenticate") != "" {
		t.Errorf("%d %v %s, want what an unknown tool is answered with: %s", a.status, a.header, a.text, b.text)
	}
}

// A challenge never confirms a tool that is hidden from the user.
func TestChallengesNameOnlyWhatTheUserMayUse(t *testing.T) {
	h := emptyFixture(t)
	h.register(capability("pets", "https://pets.example.com"), rest("get", "getPet"))
	h.register(capability("payroll", "https://payroll.example.com"), rest("delete", "wipe"))
	h.allow("payroll", access.Rule{Subject: "user:u9"})
	h.open()
	h.user("bob", "u2", "tools:pets")
	h.same("bob", "payroll__wipe")
}

// same checks that a tool is answered as one that is not there, to the byte.
func (h *fixture) same(bearer, name string) {
	h.Helper()
	for _, headers := range [][]string{as(bearer)} {
		for what, pair := range map[string][2]answer{
			"legacy": {h.legacy("tools/call", `{"name":"`+name+`"}`, headers...), h.legacy("tools/call", `{"name":"payroll__none"}`, headers...)},
			"modern": {h.modern("tools/call", `"name":"`+name+`"`, headers...), h.modern("tools/call", `"name":"payroll__none"`, headers...)},
		} {
			hidden, absent := pair[0], pair[1]
			hidden.header.Del("X-Request-Id")
			absent.header.Del("X-Request-Id")
			if hidden.status != absent.status || hidden.text != absent.text || hidden.code() != -32602 ||
				len(hidden.header) != len(absent.header) || hidden.header.Get("WWW-Authenticate") != "" {
				h.Errorf("%s, %s: %s as %s = %d %v %s; one that is not there %d %v %s", what, name, name, bearer, hidden.status,
					hidden.header, hidden.text, absent.status, absent.header, absent.text)
			}
		}
	}
	if charges, events := h.meter.bill(); charges != nil || events != nil {
		h.Errorf("charged %v, noted %v", charges, events)
	}
}

func TestChallengeNamesTheScopesOfTheConfig(t *testing.T) {
	h := newFixture(t, func(c *mcpbus.Config) { c.Scopes = []string{"openid", "tools"} })
	a := h.legacy("ping", "", "Authorization", "")
	if want := strings.Replace(metadata, `"tools"`, `"openid tools"`, 1); a.header.Get("WWW-Authenticate") != want {
		t.Errorf("the challenge is %s, want %s", a.header.Get("WWW-Authenticate"), want)
	}
	for _, bad := range []string{"", "a b", `a"b`, `a\b`} {
		if _, err := mcpbus.New(t.Context(), mcpbus.Config{BaseURL: issuer, Store: h.store, Invoker: h.calls, Meter: h.meter,
			Scopes: []string{bad}}); err == nil {
			t.Errorf("the scope %q is taken", bad)
		}
	}
}
