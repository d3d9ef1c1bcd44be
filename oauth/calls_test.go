package oauth_test

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/claim"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// One write per authorize (one more at a first visit), one per exchange, one per
// refresh; none per client_credentials; none at all per verified bearer.
func TestRequestMakesTheStorageCallsItPromises(t *testing.T) {
	h := newFixture(t)
	var code string
	var tokens answer
	for _, step := range []struct {
		name string
		act  func()
		want map[string]int
	}{
		{"authorize, first visit of the user to the application", func() { code = h.code() },
			map[string]int{"Get": 4, "Put": 1, "Issue": 1}}, // app, setting, openid, and whether the user is being erased
		{"authorize again", func() { code = h.code() },
			map[string]int{"Get": 3, "Issue": 1}},
		{"authorize with a challenge asks no setting",
			func() { h.code("code_challenge", challengeOf(verifier), "code_challenge_method", "S256") },
			map[string]int{"Get": 2, "Issue": 1}},
		{"exchange", func() { tokens = h.exchange(code).tokens(t) },
			map[string]int{"Get": 4, "Token": 1, "Exchange": 1}}, // app, setting, user, openid
		{"refresh", func() { tokens = h.refresh(tokens.text("refresh_token")).tokens(t) },
			map[string]int{"Get": 2, "Token": 1, "Exchange": 1}}, // app, user
		{"client_credentials", func() { h.token("grant_type", "client_credentials").tokens(t) },
			map[string]int{"Get": 1}},
		{"verifying a bearer, first time", func() { must(h.tokens.Verify(t.Context(), tokens.text("access_token")))(t) },
			map[string]int{}},
		{"userinfo", func() { h.userInfo(tokens.text("access_token")) },
			map[string]int{"Get": 2}}, // user, and whether the application has rules
		{"userinfo again", func() { h.userInfo(tokens.text("access_token")) },
			map[string]int{}},
		{"revoking an access token", func() { h.revoke(tokens.text("access_token")) },
			map[string]int{"Get": 1, "Revoke": 1}},
		{"refusing a revoked bearer", func() { h.tokens.Verify(t.Context(), tokens.text("access_token")) },
			map[string]int{}},
		{"revoking a refresh token", func() { h.revoke(tokens.text("refresh_token")) },
			map[string]int{"Get": 1, "Token": 1, "Revoke": 1}},
	} {
		if got := h.calls.during(step.act); fmt.Sprint(got) != fmt.Sprint(step.want) {
			t.Errorf("%s: calls %v, want %v", step.name, got, step.want)
		}
	}
}

// gathering is a counting that reads several documents at once, as all adapters here do.
type gathering struct{ *counting }

func (g gathering) Gather(ctx context.Context, asks ...driver.Ask) ([]driver.Answer, error) {
	if err := g.called("Gather"); err != nil {
		return nil, err
	}
	inner, _ := driver.As[driver.Gatherer](g.Backend)
	return inner.Gather(ctx, asks...)
}

// Groups are read once for a token, and at each question about them. An application that does not ask for them, and has
// no rules, does not notice that there are any.
func TestGroupsCostOneReadAndNothingWithoutTheirScope(t *testing.T) {
	h := newFixture(t)
	h.calls = &counting{Backend: memory.New()}
	h.over(gathering{h.calls}, oauth.Config{})
	h.joins("ops", "team-a")
	plain, asking := h.granted("openid"), h.granted("openid groups")
	for _, granted := range []answer{plain, asking} {
		h.userInfo(granted.text("access_token"))
	}
	for name, act := range map[string]func(granted answer, scope string){
		"authorize":     func(_ answer, scope string) { h.code("scope", scope) },
		"exchange":      func(_ answer, scope string) { h.exchange(h.code("scope", scope)) },
		"refresh":       func(granted answer, _ string) { h.refresh(granted.text("refresh_token")) },
		"userinfo":      func(granted answer, _ string) { h.userInfo(granted.text("access_token")) },
		"introspection": func(granted answer, _ string) { h.introspect(granted.text("access_token")) },
	} {
		want := h.calls.during(func() { act(plain, "openid") })
		got := h.calls.during(func() { act(asking, "openid groups") })
		if name == "userinfo" && len(want) != 0 || want["Gather"] != 0 {
			t.Errorf("%s without the scope: calls %v", name, want)
		}
		if name != "authorize" {
			want = maps.Clone(want)
			if want == nil {
				want = map[string]int{}
			}
			want["Gather"]++
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s with the scope: calls %v, want %v", name, got, want)
		}
	}
}

// A rule about attributes or fields reads the user, who is read for a token anyhow.
func TestRulesCostNoReadOfATokenUnlessTheyAreAboutGroups(t *testing.T) {
	h := newFixture(t)
	h.calls = &counting{Backend: memory.New()}
	h.over(gathering{h.calls}, oauth.Config{})
	exchange := func() map[string]int {
		code := h.code("scope", "openid")
		return h.calls.during(func() { h.exchange(code).tokens(t) })
	}
	exchange()
	before := exchange()
	for from, more := range map[string]int{"attribute:dept": 0, "field:location": 0, "value:1": 0, "groups:*": 1} {
		h.app.Claims = []claim.Rule{{Claim: "x", From: from}}
		h.app = h.register(h.app)
		if got := exchange(); got["Gather"] != before["Gather"]+more || got["Get"] != before["Get"] {
			t.Errorf("%s: calls %v, without the rule %v", from, got, before)
		}
	}
}

// over begins the fixture's service anew over an empty backend.
func (h *fixture) over(b driver.Backend, c oauth.Config) {
	h.Helper()
	h.store = must(storage.Open(context.Background(), b, storage.NewMasterKey()))(h.TB)
	h.tokens = tokensOf(h.TB, issuer, h.store)
	c.NoDelivery, c.Tokens, c.SignIn = true, h.tokens, h.browser
	h.server = must(oauth.New(context.Background(), c))(h.TB)
	h.app = h.register(storage.App{Name: "App", Domains: []string{"app.example.com"}})
	h.user.Version = 0
	h.user = must(h.store.CreateUser(context.Background(), h.user,
		storage.Login{Method: storage.LoginSelf, Subject: "ada"}))(h.TB)
	h.browser.signIn(h.user)
}
