package oauth_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/trust"
)

// caller returns for whom the access token of an answer speaks.
func (h *trusting) caller(a answer) storage.Caller {
	h.Helper()
	return must(
		h.tokens.Verify(h.Context(), a.tokens(h.TB).text("access_token"), issuer, busResource, busResource+"/"),
	)(
		h.TB,
	)
}

func TestIDJAGIsRedeemedForATokenOfItsUser(t *testing.T) {
	h := newTrusting(t)
	got := h.idJAG().send(h)
	c := h.caller(got)
	if c.UserID != h.user.Sub || c.AppID != h.agent.ID || c.Audience != busResource || c.Scope != "openid profile tools" ||
		got.text("refresh_token") != "" || got.text("id_token") != "" || got.text("token_type") != "Bearer" {
		t.Errorf("it is redeemed for %v: %+v", got.body, c)
	}
	if left := time.Until(c.ExpiresAt); left > time.Hour {
		t.Errorf("the token is good for %s", left)
	}
	for what, row := range map[string]struct {
		spoil func(*attempt)
		scope string
		aud   string
	}{
		"what is asked for":   {set1("scope", "tools openid"), "tools openid", busResource},
		"less than all tools": {set1("scope", "tools:shop"), "tools:shop", busResource},
		"no scope asserted":   {func(a *attempt) { delete(a.claims, "scope") }, "openid profile", busResource},
		"no resource":         {func(a *attempt) { delete(a.claims, "resource") }, "openid profile tools", issuer},
		"a bundle":            {claims1("resource", busResource+"/a"), "openid profile tools", busResource + "/a"},
		"one of several": {func(a *attempt) {
			a.claims["resource"] = []string{busResource, issuer}
			a.form.Set("resource", issuer)
		}, "openid profile tools", issuer},
		"apps beside others":     {claims1("scope", "openid apps tools"), "openid tools", busResource},
		"the issuer as a list":   {claims1("aud", []string{issuer}), "openid profile tools", busResource},
		"the issuer and a slash": {claims1("aud", issuer+"/"), "openid profile tools", busResource},
		"a typ in full": {func(a *attempt) {
			a.head["typ"] = "application/OAuth-ID-JAG+jwt"
		}, "openid profile tools", busResource},
	} {
		a := h.idJAG()
		row.spoil(a)
		if c := h.caller(a.send(h)); c.Scope != row.scope || c.Audience != row.aud {
			t.Errorf("%s: a token for %q at %s, want %q at %s", what, c.Scope, c.Audience, row.scope, row.aud)
		}
	}
}

func TestPolicyOfAnIssuerBoundsWhatItAsserts(t *testing.T) {
	h := newTrusting(t, func(c *oauth.Config) { c.Assertions.Issuers[0].Scopes = []string{"openid", "tools:shop"} })
	if c := h.caller(h.idJAG().send(h)); c.Scope != "openid tools:shop" {
		t.Errorf("within the policy there is %q", c.Scope)
	}
	a := h.idJAG()
	a.form.Set("scope", "profile")
	a.send(h).wants(t, "a scope beyond the policy", 400, 400, "invalid_scope")
}

func TestPersonWhomNobodyKnowsIsMadeOnlyWhereTheIssuerMay(t *testing.T) {
	for _, create := range []bool{false, true} {
		h := newTrusting(t, func(c *oauth.Config) { c.Assertions.Issuers[0].Create = create })
		a := h.idJAG()
		a.claims["sub"], a.claims["email"] = "bob-at-work", "bob@acme.example"
		got := a.send(h)
		if !create {
			got.wants(t, "a stranger", 400, 400, "invalid_grant")
			continue
		}
		u := must(h.store.User(t.Context(), h.caller(got).UserID))(t)
		if u.Email != "bob@acme.example" || u.EmailVerified || u.LoginType != "oidc" {
			t.Errorf("the new user is %+v", u)
		}
		again := h.idJAG()
		again.claims["sub"] = "bob-at-work"
		if c := h.caller(again.send(h)); c.UserID != u.Sub {
			t.Errorf("the second assertion is of %s, the first of %s", c.UserID, u.Sub)
		}
	}
}

func TestAssertionIsRedeemedOnceOverNodes(t *testing.T) {
	h := newTrusting(t)
	second := must(oauth.New(t.Context(), func() oauth.Config {
		c := oauth.Config{NoDelivery: true, Tokens: h.tokens, SignIn: h.browser}
		c.Assertions = oauth.AssertionsConfig{AllowPrivate: loopback, Users: asserted{h},
			Issuers: []trust.Issuer{{Issuer: h.idp.URL, Use: trust.IDJAG, AllowPrivate: loopback}}}
		return c
	}()))(t)
	for what, good := range map[string]func() *attempt{"an ID-JAG": h.idJAG, "a proof": h.proof} {
		a := good()
		var wait sync.WaitGroup
		var mu sync.Mutex
		redeemed := 0
		for n := range 16 {
			wait.Go(func() {
				node := *h.fixture
				if n%2 == 1 {
					node.server = second
				}
				one := *a
				one.form = form("x", "y")
				for name, values := range a.form {
					one.form[name] = values
				}
				mu.Lock()
				text := a.key.sign(t, a.head, a.claims) // another signature each time, the same jti
				mu.Unlock()
				one.form.Set(a.field, text)
				if got := node.post("/oauth/token", one.form); got.status == 200 {
					mu.Lock()
					redeemed++
					mu.Unlock()
				}
			})
		}
		wait.Wait()
		if redeemed != 1 {
			t.Errorf("%s is redeemed %d times", what, redeemed)
		}
	}
}

// asserted finds the users of the fixture.
type asserted struct{ h *trusting }

func (a asserted) Asserted(ctx context.Context, method, subject, _ string, _ bool) (storage.User, error) {
	l, err := a.h.store.Login(ctx, method, subject)
	if err != nil {
		return storage.User{}, err
	}
	return a.h.store.User(ctx, l.UserID)
}

func TestWorkloadIsTheApplicationOfItsRule(t *testing.T) {
	h := newTrusting(t)
	a := h.workload()
	for range 3 { // platforms hand out the same one again
		got := a.send(h)
		c := h.caller(got)
		if c.AppID != h.agent.ID || c.UserID != "" || c.Scope != "app" || c.Audience != issuer ||
			time.Until(c.ExpiresAt) > time.Hour || got.text("refresh_token") != "" {
			t.Fatalf("the workload is %+v: %v", c, got.body)
		}
	}
	for what, spoil := range map[string]func(*attempt){
		"its client_id": set1("client_id", h.agent.ID),
		"its client and secret": func(a *attempt) {
			a.form.Set("client_id", h.agent.ID)
			a.form.Set("client_secret", h.agent.AppKey().Reveal())
		},
		"a jti":                  claims1("jti", "1"),
		"no typ":                 func(a *attempt) { delete(a.head, "typ") },
		"the bus":                set1("resource", busResource),
		"an exp with a fraction": claims1("exp", float64(time.Now().Unix())+60.5),
	} {
		a := h.workload()
		spoil(a)
		if got := a.send(h); got.status != 200 {
			t.Errorf("with %s: %v", what, got.body)
		}
	}
	h.ciTrusts()
	h.workload().send(h).wants(t, "an issuer without rules", 400, 400, "invalid_grant")
	i := must(h.store.Issuer(t.Context(), h.ci.URL))(t)
	i.Audience, i.Rules = "api://keystile", []trust.Rule{
		{Subject: "*", Claims: map[string]any{"actor_id": 7}, ClientID: h.public.ID},
	}
	must(h.store.SaveIssuer(t.Context(), i))(t)
	h.workload().send(h).wants(t, "another audience", 400, 400, "invalid_grant")
	a = h.workload()
	a.claims["aud"] = "api://keystile"
	a.send(h).wants(t, "a public application", 400, 400, "invalid_grant")
}

func TestApplicationProvesItselfByItsKeysEverywhere(t *testing.T) {
	h := newTrusting(t)
	if c := h.caller(h.proof().send(h)); c.AppID != h.proven.ID || c.UserID != "" {
		t.Errorf("the application is %+v", c)
	}
	bearer := h.issued(h.agent).text("access_token")
	for path, want := range map[string]string{"/oauth/introspect": "active", "/oauth/revoke": "msg"} {
		a := h.proof()
		a.form.Del("grant_type")
		a.form.Set("token", bearer)
		a.form.Set(a.field, a.key.sign(t, a.head, a.claims))
		if got := h.post(path, a.form); got.body[want] == nil || got.status == 401 {
			t.Errorf("%s = %d %v", path, got.status, got.body)
		}
	}
	h.proven.Keys = h.proven.Keys.Clone()
	h.proven.Keys.KeepSecret = true
	h.proven = h.register(h.proven)
	h.post("/oauth/token", form("grant_type", "client_credentials", "client_id", h.proven.ID, "client_secret",
		h.proven.AppKey().Reveal())).tokens(t)
	h.proof().send(h).tokens(t)
}

func TestKeysOfAnApplicationAndOfAnIssuerRotate(t *testing.T) {
	h := newTrusting(t)
	h.proven.Keys = &client.Keys{URL: h.ci.URL + "/keys"}
	h.proven = h.register(h.proven)
	use := func(k signer) answer {
		a := h.proof()
		a.key, a.head["kid"] = k, k.id
		return a.send(h)
	}
	first, second := h.ci.key, newSigner(t, "ci-2")
	use(first).tokens(t)
	use(second).wants(t, "a key that is not published", 401, 401, "invalid_client")
	h.ci.set.Store(nil)
	use(first).tokens(t) // the address is away
	h.idJAG().send(h).tokens(t)
	h.idp.set.Store(nil)
	h.idJAG().send(h).tokens(t)
}
