package mcpbus_test

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/groups"
)

// at sends a legacy request to an address.
func (h *fixture) at(path, bearer, method, params string) answer {
	r := request(h.Context(), legacyBody(method, params), "Authorization", bearerHeader(bearer))
	r.URL.Path = path
	return send(h.bus, r)
}

func bearerHeader(bearer string) string {
	if bearer == "" {
		return ""
	}
	return "Bearer " + bearer
}

const supportPath = "/api/mcp/b/support"

// bundled is a fixture with a bundle of some of its tools.
func bundled(t *testing.T) *fixture {
	h := newFixture(t)
	must(h.store.SaveBundle(t.Context(), access.Bundle{Name: "support",
		Tools: []string{"pets__getPet", "maths__*", "gone__x", "pets__gone"}}))(t)
	must(h.store.SaveBundle(t.Context(), access.Bundle{Name: "other", Tools: []string{"pets__*"}}))(t)
	h.reload()
	for bearer, c := range map[string]storage.Caller{
		"tools":   {UserID: "u2", Scope: "openid tools", Audience: issuer},
		"bundle":  {UserID: "u2", Scope: "openid tools:b:support", Audience: issuer},
		"aimed":   {UserID: "u2", Scope: "tools:b:support", Audience: issuer + supportPath},
		"machine": {Scope: "app", Audience: issuer + supportPath},
		"bus":     {UserID: "u2", Scope: "tools", Audience: busURI},
		"member":  {UserID: "u2", Scope: "tools:pets", Audience: issuer},
		"wrong":   {UserID: "u2", Scope: "tools:b:other", Audience: issuer},
	} {
		c.AppID = "app1"
		h.tokens.give(bearer, c, time.Hour)
	}
	return h
}

// Decisions 53 and 54.
func TestBundleServesItsToolsAlone(t *testing.T) {
	h := bundled(t)
	want := []string{"maths__add", "pets__getPet"}
	for _, bearer := range []string{"tools", "bundle", "aimed", "machine", "bus", "app"} {
		a := h.at(supportPath, bearer, "tools/list", "")
		if a.status != 200 || !slices.Equal(a.names(), want) {
			t.Errorf("%s finds %d %s", bearer, a.status, a.text)
		}
		if a := h.at(supportPath, bearer, "tools/call", getPet); a.status != 200 || a.code() != 0 {
			t.Errorf("%s calls %d %s", bearer, a.status, a.text)
		}
		for _, hidden := range []string{`{"name":"pets__dropPet"}`, `{"name":"none__x"}`} {
			if a := h.at(supportPath, bearer, "tools/call", hidden); a.status != 200 || a.text != `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"there is no such tool: see tools/list"}}` {
				t.Errorf("%s calls %s beside the bundle: %d %s", bearer, hidden, a.status, a.text)
			}
		}
	}
}

func TestBundleScopeDoesNotOpenTheRest(t *testing.T) {
	h := bundled(t)
	const metadata = `resource_metadata="https://id.example.com/.well-known/oauth-protected-resource/api/mcp`
	for name, c := range map[string]struct {
		path, bearer string
		status       int
		challenge    string
	}{
		"a bundle's token at the bus":         {"/api/mcp", "aimed", 401, `Bearer ` + metadata + `", scope="tools", error="invalid_token"`},
		"a bundle's token at another":         {"/api/mcp/b/other", "aimed", 401, `Bearer ` + metadata + `/b/other", scope="tools:b:other", error="invalid_token"`},
		"an application's at another":         {"/api/mcp/b/other", "machine", 401, `Bearer ` + metadata + `/b/other", scope="tools:b:other", error="invalid_token"`},
		"a bundle's scope at another":         {"/api/mcp/b/other", "bundle", 403, `Bearer error="insufficient_scope", scope="tools:b:other", ` + metadata + `/b/other"`},
		"another's scope":                     {supportPath, "wrong", 403, `Bearer error="insufficient_scope", scope="tools:b:support", ` + metadata + `/b/support"`},
		"a capability's scope":                {supportPath, "member", 403, `Bearer error="insufficient_scope", scope="tools:b:support", ` + metadata + `/b/support"`},
		"no token":                            {supportPath, "", 401, `Bearer ` + metadata + `/b/support", scope="tools:b:support"`},
		"no token, and no such bundle":        {"/api/mcp/b/none", "", 401, `Bearer ` + metadata + `/b/none", scope="tools:b:none"`},
		"no scope, and no such bundle":        {"/api/mcp/b/none", "bundle", 403, `Bearer error="insufficient_scope", scope="tools:b:none", ` + metadata + `/b/none"`},
		"no such bundle":                      {"/api/mcp/b/none", "tools", 404, ""},
		"a name that no bundle has":           {"/api/mcp/b/a b", "", 404, ""},
		"a name that breaks out":              {"/api/mcp/b/a\"\r\nX: y", "", 404, ""},
		"no name":                             {"/api/mcp/b/", "tools", 404, ""},
		"more than a name":                    {supportPath + "/x", "tools", 404, ""},
		"a name of more than 48 bytes":        {"/api/mcp/b/" + strings.Repeat("x", 49), "tools", 404, ""},
		"a bundle whose name is its own path": {"/api/mcp/b/b", "app", 404, ""},
	} {
		a := h.at(c.path, c.bearer, "tools/list", "")
		if a.status != c.status || a.header.Get("WWW-Authenticate") != c.challenge {
			t.Errorf("%s = %d, challenge %s; want %d and %s: %s", name, a.status, a.header.Get("WWW-Authenticate"), c.status,
				c.challenge, a.text)
		}
	}
	a := h.at("/api/mcp/b/none", "tools", "tools/list", "")
	if a.body["jsonrpc"] != "2.0" || a.body["errcode"] != 404.0 || a.code() != -32000 {
		t.Errorf("404 says %s", a.text)
	}
}

// A caller that an access list stops is stopped in a bundle too.
func TestBundleOpensNothingByItself(t *testing.T) {
	h := bundled(t)
	h.allow("pets", access.Rule{Subject: "user:u2", Deny: true})
	h.reload()
	if a := h.at(supportPath, "bundle", "tools/list", ""); !slices.Equal(a.names(), []string{"maths__add"}) {
		t.Errorf("it finds %s", a.text)
	}
	if a := h.at(supportPath, "bundle", "tools/call", getPet); a.code() != -32602 || a.status != 200 {
		t.Errorf("it calls: %d %s", a.status, a.text)
	}
}

func TestNameTakenAnewIsInNoOldBundle(t *testing.T) {
	h := bundled(t)
	if err := h.store.DeleteCapability(t.Context(), must(h.store.Capability(t.Context(), "maths"))(t)); err != nil {
		t.Fatal(err)
	}
	theirs := capability("maths", "https://elsewhere.example.com")
	theirs.Owner, theirs.TakenFrom = "mal", theirs.Owner
	h.register(theirs, rest("get", "add"))
	h.reload()
	if a := h.at(supportPath, "bundle", "tools/list", ""); !slices.Equal(a.names(), []string{"pets__getPet"}) {
		t.Errorf("the bundle has %s", a.text)
	}
	b := must(h.store.Bundle(t.Context(), "support"))(t)
	named := slices.Clone(b.Tools)
	b.Label = "Another"
	b = must(h.store.SaveBundle(t.Context(), b))(t)
	h.reload()
	if a := h.at(supportPath, "bundle", "tools/list", ""); !slices.Equal(a.names(), []string{"pets__getPet"}) {
		t.Errorf("with another label the bundle has %s", a.text)
	}
	b.Tools = named
	must(h.store.SaveBundle(t.Context(), b))(t)
	h.reload()
	if a := h.at(supportPath, "bundle", "tools/list", ""); len(a.names()) != 2 {
		t.Errorf("with the tool named once more the bundle has %s", a.text)
	}
}

func TestDeletedBundleIsGone(t *testing.T) {
	h := bundled(t)
	if err := h.store.DeleteBundle(t.Context(), must(h.store.Bundle(t.Context(), "support"))(t)); err != nil {
		t.Fatal(err)
	}
	h.reload()
	if a := h.at(supportPath, "bundle", "ping", ""); a.status != 404 {
		t.Errorf("it answers %d %s", a.status, a.text)
	}
}

// RFC 9728: the same for every name, so that it tells of no bundle.
func TestDocumentOfABundleIsMadeOfItsName(t *testing.T) {
	h := bundled(t)
	for _, name := range []string{"support", "none"} {
		a := send(h.bus, httptest.NewRequest("GET", issuer+"/.well-known/oauth-protected-resource/api/mcp/b/"+name, nil))
		want := `{"resource":"https://id.example.com/api/mcp/b/` + name + `","authorization_servers":["https://id.example.com"],"scopes_supported":["tools:b:` + name + `"],"bearer_methods_supported":["header"],"resource_name":"Keystile","dpop_signing_alg_values_supported":["ES256","EdDSA","RS256","PS256"],"dpop_bound_access_tokens_required":false}`
		if a.status != 200 || a.text != want || a.header.Get("ETag") == "" {
			t.Errorf("%s = %d %s", name, a.status, a.text)
		}
	}
	for _, name := range []string{"a%20b", "%22", strings.Repeat("x", 49), "x/y", ""} {
		if a := send(h.bus, httptest.NewRequest("GET", issuer+"/.well-known/oauth-protected-resource/api/mcp/b/"+name,
			nil)); a.status != 404 {
			t.Errorf("%q = %d %s", name, a.status, a.text)
		}
	}
}

// With real tokens and the gateway in front: a token that was issued for a bundle has its
// rate there, and opens that bundle and nothing else.
func TestTokenIsIssuedForABundle(t *testing.T) {
	s := newSite(t)
	must(s.store.SaveBundle(t.Context(), access.Bundle{Name: "support", Tools: []string{"pets__*"}}))(t)
	must(s.store.SaveBundle(t.Context(), access.Bundle{Name: "other", Tools: []string{"pets__*"}}))(t)
	s.reload()
	bearer := s.bearer(issuer + supportPath)
	for name, entryPoint := range s.entryPoints() {
		for path, want := range map[string]int{supportPath: 200, "/api/mcp/b/other": 401, "/api/mcp": 401} {
			r := request(t.Context(), legacyBody("tools/list", ""), as(bearer)...)
			r.URL.Path = path
			if a := send(entryPoint, r); a.status != want {
				t.Errorf("%s, %s = %d %s, want %d", name, path, a.status, a.text, want)
			}
		}
	}
}

// The gateway admits tokens of every bundle; the bus looks which one it is.
func TestGatewaysWordOnABundleIsChecked(t *testing.T) {
	h := bundled(t)
	for audience, want := range map[string]int{issuer: 200, busURI: 200, issuer + supportPath: 200,
		issuer + "/api/mcp/b/other": 401, issuer + "/x": 401} {
		v := &reqctx.Visit{Context: t.Context(), Known: true, Entry: 1,
			Caller: storage.Caller{AppID: "a", Scope: "app", Audience: audience}}
		r := request(v, legacyBody("ping", ""))
		r.URL.Path = supportPath
		if a := send(h.bus, r); a.status != want {
			t.Errorf("for %s = %d %s, want %d", audience, a.status, a.text, want)
		}
	}
}

func TestAddressOfTheBusIsNamed(t *testing.T) {
	h := newFixture(t)
	for _, path := range append(mcpbus.MetadataPaths(), mcpbus.BundlePaths()[1]+"x") {
		if a := send(h.bus, httptest.NewRequest("GET", issuer+path, nil)); a.status != 200 {
			t.Errorf("%s = %d", path, a.status)
		}
	}
	if a := h.at(mcpbus.BundlePaths()[0]+"x", "", "ping", ""); a.status != 401 {
		t.Errorf("%s = %d", mcpbus.BundlePaths()[0], a.status)
	}
}

// A bundle that a rule keeps from somebody is not there for them, at its address and as a scope elsewhere.
func TestBundleIsForThoseWhomItsRulesAllow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := bundled(t)
		ada := must(h.store.CreateUser(t.Context(), storage.User{Username: "ada"}))(t)
		must(h.store.SaveGroup(t.Context(), groups.Group{Name: "helpers"}))(t)
		must(h.store.AddMember(t.Context(), "helpers", ada.Sub))(t)
		for bearer, c := range map[string]storage.Caller{
			"ada":     {UserID: ada.Sub, Scope: "openid tools", Audience: issuer},
			"adaonly": {UserID: ada.Sub, Scope: "openid tools:b:support", Audience: issuer},
		} {
			c.AppID = "app1"
			h.tokens.give(bearer, c, time.Hour)
		}
		rule := func(rules ...access.Rule) {
			t.Helper()
			b := must(h.store.Bundle(t.Context(), "support"))(t)
			b.Rules = rules
			must(h.store.SaveBundle(t.Context(), b))(t)
			h.reload()
		}
		want := func(what string, open map[string]bool) {
			t.Helper()
			for bearer, is := range open {
				status := map[bool]int{true: 200, false: 404}[is]
				if a := h.at(supportPath, bearer, "tools/list", ""); a.status != status || is && len(a.names()) != 2 {
					t.Errorf("%s: %s is answered %d %s", what, bearer, a.status, a.text)
				}
				if a := h.at(supportPath, bearer, "tools/call", getPet); a.status != status {
					t.Errorf("%s: %s calls %d %s", what, bearer, a.status, a.text)
				}
			}
			for _, bearer := range []string{"bundle", "adaonly"} { // their scope opens the bundle alone, at the bus too
				n := map[bool]int{true: 2, false: 0}[open[bearer]]
				if a := h.at("/api/mcp", bearer, "tools/list", ""); len(a.names()) != n {
					t.Errorf("%s: %s finds %s on the bus", what, bearer, a.text)
				}
			}
			offer := must(h.bus.Offer(t.Context(), ada.Sub, "app1", "tools:b:support"))(t)
			if is := len(offer.Bundles) == 1 && offer.Tools == 2; is != open["ada"] {
				t.Errorf("%s: ada is offered %+v", what, offer)
			}
		}
		want("without rules", map[string]bool{"ada": true, "adaonly": true, "tools": true, "bundle": true, "machine": true})
		rule(access.Rule{Subject: "group:helpers"})
		want("a group", map[string]bool{"ada": true, "adaonly": true, "tools": false, "bundle": false, "machine": false})
		must(h.store.RemoveMember(t.Context(), "helpers", ada.Sub))(t)
		time.Sleep(time.Second)
		want("a member no more", map[string]bool{"ada": false, "adaonly": false, "tools": false, "bundle": false})
		rule(access.Rule{Subject: "user:" + ada.Sub, Deny: true})
		want("one is denied", map[string]bool{"ada": false, "adaonly": false, "tools": true, "bundle": true, "machine": true})
		rule(access.Rule{Subject: "app:app1"})
		want("an application", map[string]bool{"ada": true, "adaonly": true, "tools": true, "bundle": true, "machine": true})
	})
}
