package oauth_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// row is a hostile request: what is spoiled, and the error that it is answered with.
type row struct {
	name  string
	spoil func(*attempt)
	want  string
}

// spoiled returns the faults that any assertion may have: of its header, its signature, its times and its shape.
func spoiled(h *trusting, want string) []row {
	now := time.Now().Unix()
	head := func(name string, value any) func(*attempt) {
		return func(a *attempt) {
			if a.head[name] = value; value == nil {
				delete(a.head, name)
			}
		}
	}
	claim := func(name string, value any) func(*attempt) {
		return func(a *attempt) {
			if a.claims[name] = value; value == nil {
				delete(a.claims, name)
			}
		}
	}
	text := func(f func(string) string) func(*attempt) { return func(a *attempt) { a.text = f } }
	stranger := newSigner(h, "stranger")
	rows := []row{
		{"alg none", head("alg", "none"), want}, {"alg None", head("alg", "None"), want}, {"no alg", head("alg", nil), want},
		{"alg HS256 by the public key", head("alg", "HS256"), want}, {"alg ES384", head("alg", "ES384"), want},
		{"alg RS256 of an EC key", head("alg", "RS256"), want}, {"alg of another case", head("alg", "es256"), want},
		{"alg that is a number", head("alg", 1), want},
		{"unknown kid", head("kid", "x"), want}, {"kid that is a number", head("kid", 1), want},
		{"kid that is a path", head("kid", "../../dev/null"), want}, {"kid that is SQL", head("kid", "' or 1=1 --"), want},
		{"jwk that it brings", head("jwk", map[string]any{"kty": "EC"}), want},
		{"jku", head("jku", "https://evil.example.org/keys"), want}, {"x5u", head("x5u", "https://evil.example.org/x"), want},
		{"x5c", head("x5c", []string{"MII"}), want}, {"crit", head("crit", []string{"exp"}), want},
		{"b64", head("b64", false), want}, {"zip", head("zip", "DEF"), want}, {"a header of ours in another case",
			head("Alg", "ES256"), want},
		{"typ of an access token", head("typ", "at+jwt"), want}, {"typ of a logout token", head("typ", "logout+jwt"), want},
		{
			"typ of a DPoP proof",
			head("typ", "dpop+jwt"),
			want,
		}, {"typ of the last hop", head("typ", "keystile-caller+jwt"), want},
		{"typ that is a number", head("typ", 7), want}, {"typ unknown", head("typ", "x+jwt"), want},
		{"key of a stranger", func(a *attempt) { a.key = stranger; a.head["kid"] = stranger.id }, want},
		{"key of a stranger under a known kid", func(a *attempt) { a.key.PrivateKey = stranger.PrivateKey }, want},
		{"key of a stranger without kid", func(a *attempt) { a.key = stranger; delete(a.head, "kid") }, want},
		{"no signature", text(func(s string) string { return s[:strings.LastIndexByte(s, '.')+1] }), want},
		{"two parts", text(func(s string) string { return s[:strings.LastIndexByte(s, '.')] }), want},
		{"four parts", text(func(s string) string { return s + ".x" }), want},
		{"another character in the signature", text(func(s string) string {
			return strings.Replace(s, s[len(s)-4:], "AAAA", 1)
		}), want},
		{"blanks", text(func(s string) string { return s + " " }), want},
		{"padding", text(func(s string) string { return s + "=" }), want},
		{"a line break", text(func(s string) string { return strings.Replace(s, ".", ".\n", 1) }), want},
		{"longer than 8 KiB", claim("more", strings.Repeat("x", 9<<10)), want},
		{"no iss", claim("iss", nil), want}, {"another iss", claim("iss", "https://evil.example.org"), want},
		{"iss with a slash", func(a *attempt) { a.claims["iss"] = a.claims["iss"].(string) + "/" }, want},
		{"iss that is a list", func(a *attempt) { a.claims["iss"] = []any{a.claims["iss"]} }, want},
		{"no sub", claim("sub", nil), want}, {"an empty sub", claim("sub", ""), want}, {"sub that is a number",
			claim("sub", 1), want},
		{"no aud", claim("aud", nil), want}, {"an empty aud", claim("aud", ""), want},
		{
			"another aud",
			claim("aud", "https://other.example.org"),
			want,
		}, {"a list without aud", claim("aud", []string{}), want},
		{"aud beside another", claim("aud", []string{issuer, "https://other.example.org"}), want},
		{
			"aud beside null",
			claim("aud", []any{issuer, nil}),
			want,
		}, {"aud twice", claim("aud", []string{issuer, issuer}), want},
		{"aud of the token endpoint", claim("aud", issuer+"/oauth/token"), want},
		{"aud with a path", claim("aud", issuer+"/x"), want}, {"aud of http", claim("aud", "http://id.example.com"), want},
		{"aud in capitals", claim("aud", strings.ToUpper(issuer)), want},
		{"no exp", claim("exp", nil), want}, {"over", claim("exp", now-1), want}, {"over long ago", claim("exp", 1), want},
		{"exp that is a text", claim("exp", "9999999999"), want}, {"exp in years", claim("exp", now+10*365*86400), want},
		{"exp in milliseconds", claim("exp", now*1000), want}, {"a negative exp", claim("exp", -1), want},
		{"exp beyond all time", claim("exp", 1e300), want}, {"from tomorrow", claim("nbf", now+86400), want},
		{"issued tomorrow", claim("iat", now+86400), want}, {"nbf that is a text", claim("nbf", "soon"), want},
		{"a member in another case", claim("Exp", now+60), want},
	}
	return rows
}

// refuse sends each row of a table, and makes sure that nothing comes of it.
func (h *trusting) refuse(t *testing.T, kind string, good func() *attempt, rows []row) (n int) {
	t.Helper()
	for _, r := range rows {
		a := good()
		r.spoil(a)
		got := a.send(h)
		if got.status != 400 && got.status != 401 || got.text("error") != r.want || got.text("access_token") != "" {
			t.Errorf("%s with %s = %d %v, want %s", kind, r.name, got.status, got.body, r.want)
		}
	}
	good().send(h).tokens(t) // what was spoiled was good before
	return len(rows)
}

func set1(name, value string) func(*attempt) { return func(a *attempt) { a.form.Set(name, value) } }

func without(name string) func(*attempt) { return func(a *attempt) { a.form.Del(name) } }

func claims1(name string, value any) func(*attempt) {
	return func(a *attempt) { a.claims[name] = value }
}

// RFC 7523, RFC 8693, draft-ietf-oauth-identity-assertion-authz-grant: nothing of this is redeemed.
func TestHostileAssertionsAndExchangesGetNothing(t *testing.T) {
	h := newTrusting(t)
	disabled := h.register(storage.App{Name: "Off", Domains: []string{"off.example.com"}, Disabled: true})
	gone := must(h.store.CreateUser(context.Background(), storage.User{Username: "eve", Disabled: true}))(t)
	h.knows(gone, "eve-at-work")
	needsTwo := h.register(storage.App{Name: "Two", Domains: []string{"two.example.com"}, MFA: "required"})
	as := func(app storage.App) func(*attempt) {
		return func(a *attempt) {
			a.form.Set("client_id", app.ID)
			a.form.Set("client_secret", app.AppKey().Reveal())
			if app.Public {
				a.form.Del("client_secret")
			}
			if a.claims != nil {
				a.claims["client_id"] = app.ID
			}
		}
	}
	n := h.refuse(t, "an ID-JAG", h.idJAG, slices.Concat(spoiled(h, "invalid_grant"), []row{
		{"no typ", func(a *attempt) { delete(a.head, "typ") }, "invalid_grant"},
		{"typ JWT", func(a *attempt) { a.head["typ"] = "JWT" }, "invalid_grant"},
		{"no jti", func(a *attempt) { delete(a.claims, "jti") }, "invalid_grant"},
		{"an empty jti", claims1("jti", ""), "invalid_grant"},
		{"a long jti", claims1("jti", strings.Repeat("x", 257)), "invalid_grant"},
		{"no iat", func(a *attempt) { delete(a.claims, "iat") }, "invalid_grant"},
		{"no client_id", func(a *attempt) { delete(a.claims, "client_id") }, "invalid_grant"},
		{"client_id of another", claims1("client_id", h.app.ID), "invalid_grant"},
		{"a sub with control characters", claims1("sub", "ada\x00"), "invalid_grant"},
		{"a long sub", claims1("sub", strings.Repeat("x", 256)), "invalid_grant"},
		{"a sub that nobody has", claims1("sub", "bob-at-work"), "invalid_grant"},
		{"a disabled user", claims1("sub", "eve-at-work"), "invalid_grant"},
		{"the issuer of the workloads", func(a *attempt) {
			a.claims["iss"], a.key, a.head["kid"] = h.ci.URL, h.ci.key, h.ci.key.id
		}, "invalid_grant"},
		{"the key of the other issuer", func(a *attempt) { a.key, a.head["kid"] = h.ci.key, h.ci.key.id }, "invalid_grant"},
		{"a public application", as(h.public), "invalid_client"},
		{"a disabled application", as(disabled), "invalid_grant"},
		{"an application that wants two factors", as(needsTwo), "invalid_grant"},
		{"no client", func(a *attempt) { a.form.Del("client_secret"); a.form.Del("client_id") }, "invalid_client"},
		{"no secret", without("client_secret"), "invalid_client"},
		{"a wrong secret", set1("client_secret", "x"), "invalid_client"},
		{"another resource", set1("resource", issuer), "invalid_target"},
		{"a resource of others", claims1("resource", "https://api.example.org"), "invalid_target"},
		{"resource that is a number", claims1("resource", 1), "invalid_grant"},
		{
			"several resources and none asked for",
			claims1("resource", []string{busResource, busResource + "/a"}),
			"invalid_target",
		},
		{"more scope than is asserted", set1("scope", "email"), "invalid_scope"},
		{"the scope apps", set1("scope", "apps"), "invalid_scope"},
		{
			"the scope apps, asserted",
			func(a *attempt) { a.claims["scope"] = "apps"; a.form.Set("scope", "apps") },
			"invalid_scope",
		},
		{
			"the scope app, asserted",
			func(a *attempt) { a.claims["scope"] = "app"; a.form.Set("scope", "app") },
			"invalid_scope",
		},
		{
			"an empty scope",
			claims1("scope", ""),
			"invalid_scope",
		}, {"scope that is a list", claims1("scope", []string{"openid"}),
			"invalid_grant"},
		{"no assertion", func(a *attempt) { a.claims = nil }, "invalid_request"},
		{"an access token", func(a *attempt) {
			a.claims = nil
			a.form.Set("assertion", h.issued(h.agent).text("access_token"))
		}, "invalid_grant"},
		{"an id_token", func(a *attempt) {
			a.claims = nil
			a.form.Set("assertion", h.issued(h.agent).text("id_token"))
		}, "invalid_grant"},
	}))
	n += h.refuse(t, "a workload", h.workload, slices.Concat(spoiled(h, "invalid_grant"), []row{
		{"typ of an ID-JAG", func(a *attempt) { a.head["typ"] = "oauth-id-jag+jwt" }, "invalid_grant"},
		{"another branch", claims1("sub", "repo:acme/shop:ref:refs/heads/mine"), "invalid_grant"},
		{"a line break in sub", claims1("sub", "repo:acme/x\ny:ref:refs/heads/main"), "invalid_grant"},
		{"more behind sub", claims1("sub", "repo:acme/shop:ref:refs/heads/main2"), "invalid_grant"},
		{"more before sub", claims1("sub", "xrepo:acme/shop:ref:refs/heads/main"), "invalid_grant"},
		{
			"another claim",
			claims1("actor_id", 8),
			"invalid_grant",
		}, {"a claim as a text", claims1("actor_id", "7"), "invalid_grant"},
		{"a claim in a list", claims1("actor_id", []int{7}), "invalid_grant"},
		{"a claim that is null", claims1("actor_id", nil), "invalid_grant"},
		{"no claim", func(a *attempt) { delete(a.claims, "actor_id") }, "invalid_grant"},
		{"another client_id", set1("client_id", h.app.ID), "invalid_grant"},
		{"another application that proves itself", func(a *attempt) {
			a.form.Set("client_id", h.app.ID)
			a.form.Set("client_secret", h.app.AppKey().Reveal())
		}, "invalid_grant"},
		{"a wrong secret", func(a *attempt) {
			a.form.Set("client_id", h.agent.ID)
			a.form.Set("client_secret", "x")
		}, "invalid_client"},
		{"a resource of others", set1("resource", "https://api.example.org"), "invalid_target"},
		{"the issuer of the users", func(a *attempt) {
			a.claims["iss"], a.key, a.head["kid"] = h.idp.URL, h.idp.key, h.idp.key.id
		}, "invalid_client"},
	}))
	n += h.refuse(t, "a proof", h.proof, slices.Concat(spoiled(h, "invalid_client"), []row{
		{"typ of an ID-JAG", func(a *attempt) { a.head["typ"] = "oauth-id-jag+jwt" }, "invalid_client"},
		{"no jti", func(a *attempt) { delete(a.claims, "jti") }, "invalid_client"},
		{"a long life", claims1("exp", time.Now().Add(time.Hour).Unix()), "invalid_client"},
		{"sub of another", claims1("sub", h.agent.ID), "invalid_client"},
		{"iss of another", claims1("iss", h.agent.ID), "invalid_client"},
		{"client_id of another", set1("client_id", h.agent.ID), "invalid_client"},
		{"client_id of a public one", set1("client_id", h.public.ID), "invalid_client"},
		{
			"another type",
			set1("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:saml2-bearer"),
			"invalid_client",
		},
		{"no type", without("client_assertion_type"), "invalid_client"},
		{"a secret too", set1("client_secret", h.proven.AppKey().Reveal()), "invalid_request"},
		{"the secret alone", func(a *attempt) {
			a.claims = nil
			a.form = form(
				"grant_type",
				"client_credentials",
				"client_id",
				h.proven.ID,
				"client_secret",
				h.proven.AppKey().Reveal(),
			)
		}, "invalid_client"},
	}))
	n += h.refuseExchanges(t, as)
	if t.Logf("%d hostile requests", n); n < 250 {
		t.Errorf("there are %d of them, fewer than before", n)
	}
}

func (h *trusting) refuseExchanges(t *testing.T, as func(storage.App) func(*attempt)) int {
	t.Helper()
	mine := h.issued(h.agent, "scope", "openid profile email tools:shop")
	theirs := h.issued(h.app, "scope", "openid profile").text("access_token")
	bundle := h.issued(h.agent, "scope", "tools", "resource", busResource+"/a").text("access_token")
	own := h.post("/oauth/token", form("grant_type", "client_credentials", "client_id", h.agent.ID, "client_secret",
		h.agent.AppKey().Reveal())).tokens(t).text("access_token")
	ended := h.issued(h.agent)
	h.post("/oauth/revoke", form("client_id", h.agent.ID, "client_secret", h.agent.AppKey().Reveal(), "token",
		ended.text("access_token")))
	key, _ := h.fixture.key("tools", time.Hour)
	h.denied[h.agent.ID] = true // from here on: the codes are there
	subject := func(text string, more ...string) func(*attempt) {
		return func(a *attempt) {
			a.form.Set("subject_token", text)
			for i := 0; i < len(more); i += 2 {
				a.form.Set(more[i], more[i+1])
			}
		}
	}
	signed := h.register(storage.App{Name: "Signed", Domains: []string{"signed.example.com"}, IDTokenAlg: "ES256"})
	plain := h.register(storage.App{Name: "May not", Domains: []string{"not.example.com"}})
	bent := mine.text("access_token")
	bent = bent[:len(bent)-6] + "AAAAAA"
	rows := []row{
		{"no subject_token", without("subject_token"), "invalid_request"},
		{"no type", without("subject_token_type"), "invalid_request"},
		{"another type", set1("subject_token_type", "urn:ietf:params:oauth:token-type:saml2"), "invalid_request"},
		{"type jwt", set1("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"), "invalid_request"},
		{
			"type refresh_token",
			set1("subject_token_type", "urn:ietf:params:oauth:token-type:refresh_token"),
			"invalid_request",
		},
		{"a refresh token", subject(mine.text("refresh_token")), "invalid_request"},
		{"a refresh token as id_token", subject(mine.text("refresh_token"), "subject_token_type", idType), "invalid_request"},
		{"text", subject("x"), "invalid_request"}, {"a bent signature", subject(bent), "invalid_request"},
		{"a revoked token", subject(ended.text("access_token")), "invalid_request"},
		{"a token of an application itself", subject(own), "invalid_request"},
		{"a token of another application", subject(theirs), "unauthorized_client"},
		{"an id_token as access token", subject(mine.text("id_token")), "invalid_request"},
		{"an access token as id_token", subject(mine.text("access_token"), "subject_token_type", idType), "invalid_request"},
		{"an HS256 id_token", subject(mine.text("id_token"), "subject_token_type", idType), "invalid_request"},
		{"an HS256 id_token that the holder of the appkey has made", subject(h.forgedID(), "subject_token_type", idType),
			"invalid_request"},
		{"an ES256 id_token of another application", func(a *attempt) {
			a.form.Set("subject_token", h.issuedWhile(signed).text("id_token"))
			a.form.Set("subject_token_type", idType)
		}, "invalid_request"},
		{"an API key of a user who has not allowed it", subject(key), "unauthorized_client"},
		{"an API key that is none", subject(key[:len(key)-1] + "0"), "invalid_request"},
		{"an ID-JAG", func(a *attempt) {
			j := h.idJAG()
			a.form.Set("subject_token", j.key.sign(h, j.head, j.claims))
		}, "invalid_request"},
		{
			"another requested type",
			set1("requested_token_type", "urn:ietf:params:oauth:token-type:refresh_token"),
			"invalid_request",
		},
		{"an id_token requested", set1("requested_token_type", idType), "invalid_request"},
		{"an actor of another application", func(a *attempt) {
			a.form.Set("actor_token", theirs)
			a.form.Set("actor_token_type", accessType)
		}, "invalid_request"},
		{"an actor without type", set1("actor_token", mine.text("access_token")), "invalid_request"},
		{"an actor type without actor", set1("actor_token_type", accessType), "invalid_request"},
		{"an actor of another type", func(a *attempt) {
			a.form.Set("actor_token", mine.text("id_token"))
			a.form.Set("actor_token_type", idType)
		}, "invalid_request"},
		{"an API key as actor", func(a *attempt) {
			a.form.Set("actor_token", key)
			a.form.Set("actor_token_type", accessType)
		}, "invalid_request"},
		{"a revoked actor", func(a *attempt) {
			a.form.Set("actor_token", ended.text("access_token"))
			a.form.Set("actor_token_type", accessType)
		}, "invalid_request"},
		{
			"more scope",
			set1("scope", "openid groups"),
			"invalid_scope",
		}, {"all tools", set1("scope", "tools"), "invalid_scope"},
		{
			"tools of another",
			set1("scope", "tools:mail"),
			"invalid_scope",
		}, {"the scope apps", set1("scope", "apps"), "invalid_scope"},
		{"the scope app", set1("scope", "app"), "invalid_scope"}, {"an unknown scope", set1("scope", "x"), "invalid_scope"},
		{"a resource of others", set1("resource", "https://api.example.org"), "invalid_target"},
		{"an audience of others", set1("audience", "https://api.example.org"), "invalid_target"},
		{"two audiences", func(a *attempt) {
			a.form.Set("resource", busResource)
			a.form.Set("audience", busResource+"/a")
		}, "invalid_target"},
		{"all of the bus for a bundle", subject(bundle, "resource", busResource), "invalid_target"},
		{"another bundle for a bundle", subject(bundle, "resource", busResource+"/b"), "invalid_target"},
		{"the service for a bundle", subject(bundle, "audience", issuer), "invalid_target"},
		{"a public application", as(h.public), "unauthorized_client"},
		{"an application that may not", as(plain), "unauthorized_client"},
		{
			"a wrong secret",
			set1("client_secret", "x"),
			"invalid_client",
		}, {"no secret", without("client_secret"), "invalid_client"},
	}
	n := h.refuse(t, "an exchange", func() *attempt { return h.exchanges(mine.text("access_token")) }, rows)

	off := h.user
	off.Disabled = true
	off = must(h.store.SaveUser(context.Background(), off))(t)
	h.exchanges(mine.text("access_token")).send(h).wants(t, "a disabled user", 400, 400, "invalid_grant")
	off.Disabled = false
	h.user = must(h.store.SaveUser(context.Background(), off))(t)
	h.exchanges(mine.text("access_token")).send(h).tokens(t)
	if err := h.tokens.Revoke(context.Background(), driver.Revocation{Kind: driver.RevokeUser, ID: h.user.Sub,
		Before: time.Now().Add(time.Second)}); err != nil {
		t.Fatal(err)
	}
	h.exchanges(mine.text("access_token")).send(h).wants(t, "after signing out everywhere", 400, 400, "invalid_request")
	return n + 2
}

// issuedWhile is issued, whatever the user has not allowed.
func (h *trusting) issuedWhile(app storage.App) answer {
	h.Helper()
	return h.issued(app, "scope", "openid profile")
}

// forgedID is an id_token as the holder of the agent's appkey can make it.
func (h *trusting) forgedID() string {
	return tokenHS256(h, h.agent, map[string]any{"iss": issuer, "sub": h.user.Sub, "aud": h.agent.ID,
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()})
}
