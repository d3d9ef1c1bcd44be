package oauth_test

import (
	"fmt"
	"testing"
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
			map[string]int{"Get": 1}},
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
