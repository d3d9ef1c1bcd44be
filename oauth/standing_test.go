package oauth_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage/driver"
)

func TestCodeIsNoRefreshTokenAndARefreshTokenNoCode(t *testing.T) {
	h := newFixture(t)
	code := h.code()
	h.refresh(code).wants(t, "a code at the refresh grant", 400, 400, "invalid_grant")
	tokens := h.exchange(code).tokens(t)
	handle := tokens.text("refresh_token")
	h.exchange(handle, "redirect_uri", "-").wants(t, "a refresh token at the code grant", 400, 400, "invalid_grant")
	h.exchange(handle).wants(t, "a refresh token with a redirect_uri", 400, 400, "invalid_grant")
	h.refresh(handle).tokens(t)
}

func TestRedirectURIOfTheExchangeMustEqualTheFirstOne(t *testing.T) {
	h := newFixture(t)
	code := h.code()
	for _, uri := range []string{"-", redirect + "/", redirect + "?", strings.ToUpper(redirect),
		"https://app.example.com/other"} {
		h.exchange(code, "redirect_uri", uri).wants(t, "exchange with redirect_uri "+uri, 400, 400, "invalid_grant")
	}
	h.exchange(code).tokens(t)
}

// Sign out everywhere, then sign in again: what was granted before is over, at every endpoint;
// what is granted afterwards works, even within the same second, and where the clock was ahead
// when it was granted, and is right again.
func TestRevokingAUserOrAnApplicationEndsWhatWasGrantedBefore(t *testing.T) {
	ids := map[string]func(h *fixture) string{
		driver.RevokeUser:    func(h *fixture) string { return h.user.Sub },
		driver.RevokeApp:     func(h *fixture) string { return h.app.ID },
		driver.RevokeConsent: func(h *fixture) string { return driver.ConsentID(h.app.ID, h.user.Sub) },
	}
	for kind, id := range ids {
		for _, ahead := range []time.Duration{0, time.Hour} {
			t.Run(fmt.Sprint(kind, " ", ahead), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := newFixture(t)
					h.store.Later(time.Now().Add(ahead)) // somebody has seen this time
					open := h.code()
					tokens := h.exchange(h.code()).tokens(t)
					time.Sleep(time.Millisecond)
					rotated := h.refresh(tokens.text("refresh_token")).tokens(t)
					machine := h.token("grant_type", "client_credentials").tokens(t)
					if err := h.tokens.Revoke(t.Context(), driver.Revocation{Kind: kind, ID: id(h), Before: time.Now()}); err != nil {
						t.Fatal(err)
					}
					h.exchange(open).wants(t, "a code from before", 400, 400, "invalid_grant")
					h.refresh(rotated.text("refresh_token")).wants(t, "a refresh token from before", 400, 400, "invalid_grant")
					h.userInfo(tokens.text("access_token")).wants(t, "an access token from before", 401, 401, "invalid_token")
					// A refresh copies the time of the grant: its tokens end with it, however young.
					h.userInfo(rotated.text("access_token")).wants(t, "an access token of a refresh", 401, 401, "invalid_token")
					// With a clock that is right it was granted at the very moment; else nobody can tell.
					_, err := h.tokens.Verify(t.Context(), machine.text("access_token"))
					if ended := ahead > 0 && kind == driver.RevokeApp; ended != (err != nil) {
						t.Errorf("an application's own token granted at the very moment = %v, want it ended %t", err, ended)
					}
					time.Sleep(time.Millisecond)
					again := h.exchange(h.code()).tokens(t)
					if u := h.userInfo(again.text("access_token")); u.status != 200 {
						t.Errorf("userinfo after signing in again = %d %v, want 200", u.status, u.body)
					}
					time.Sleep(167 * time.Hour)
					h.userInfo(tokens.text("access_token")).wants(t, "the old access token six days later", 401, 401, "invalid_token")
					must(h.store.Sweep(t.Context(), time.Now()))(t)
					restarted := tokensOf(t, issuer, h.store)
					if _, err := restarted.Verify(t.Context(), tokens.text("access_token")); err == nil {
						t.Error("the old access token verifies after a sweep and a restart: the fact was forgotten")
					}
				})
			})
		}
	}
}

func TestRevocationsAreReadAtStart(t *testing.T) {
	h := newFixture(t)
	tokens := h.exchange(h.code()).tokens(t)
	h.revoke(tokens.text("access_token"))
	again := tokensOf(t, issuer, h.store)
	if _, err := again.Verify(t.Context(), tokens.text("access_token")); err == nil {
		t.Error("a revoked token verifies after a restart")
	}
	if _, err := again.Verify(t.Context(),
		h.refresh(tokens.text("refresh_token")).tokens(t).text("access_token")); err != nil {
		t.Errorf("a token from before the restart = %v, want it valid: keys are stored", err)
	}
}

// Decision 8.
func TestDisabledApplicationGetsNothing(t *testing.T) {
	h := newFixture(t)
	code := h.code()
	tokens := h.exchange(h.code()).tokens(t)
	h.app.Disabled = true
	h.app = must(h.store.SaveApp(t.Context(), h.app))(t)
	if w := h.authorize(); w.Code != 400 || w.Header().Get("Location") != "" {
		t.Errorf("authorize of a disabled application = %d to %q, want a 400 page", w.Code, w.Header().Get("Location"))
	}
	h.exchange(code).wants(t, "exchange", 400, 400, "invalid_grant")
	h.refresh(tokens.text("refresh_token")).wants(t, "refresh", 400, 400, "invalid_grant")
	h.token("grant_type", "client_credentials").wants(t, "client_credentials", 400, 400, "unauthorized_client")
	h.app.Disabled = false
	h.app = must(h.store.SaveApp(t.Context(), h.app))(t)
	h.exchange(code).tokens(t)
	h.refresh(tokens.text("refresh_token")).tokens(t)
}

// Decision 5.
func TestPlainPKCEWorksUnlessTheApplicationForbidsIt(t *testing.T) {
	h := newFixture(t)
	code := h.code("code_challenge", verifier)
	h.exchange(code, "code_verifier", strings.Repeat("x", 43)).wants(t, "a wrong plain verifier", 400, 400,
		"invalid_grant")
	h.exchange(code, "code_verifier", verifier).tokens(t)
	h.app.ForbidPlain = true
	h.app = must(h.store.SaveApp(t.Context(), h.app))(t)
	for _, pairs := range [][]string{{"code_challenge", verifier},
		{"code_challenge", verifier, "code_challenge_method", "plain"}} {
		if loc := h.authorize(pairs...).Header().Get("Location"); !strings.Contains(loc, "error=invalid_request") {
			t.Errorf("authorize with plain redirects to %q, want invalid_request", loc)
		}
	}
	h.code("code_challenge", challengeOf(verifier), "code_challenge_method", "S256")
}

// Decision 2.
func TestScopesAreGrantedOnceAndOnlyWhereTheyBelong(t *testing.T) {
	h := newFixture(t)
	for asked, want := range map[string]string{
		"-":                              "openid profile",
		"openid":                         "openid",
		"email openid email":             "email openid",
		"openid app offline_access spam": "openid",
		"OPENID profile":                 "profile",
		"spam":                           "openid profile",
	} {
		if a := h.exchange(h.code("scope", asked)).tokens(t); a.text("scope") != want {
			t.Errorf("scope %q grants %q, want %q", asked, a.text("scope"), want)
		}
	}
}

// Decision 14.
func TestNoncesOfAnyLengthComeBack(t *testing.T) {
	h := newFixture(t)
	for _, nonce := range []string{"x", strings.Repeat("n", 2000), "<\"&>"} {
		if c := payload(t, h.exchange(h.code("nonce", nonce)).tokens(t).text("id_token")); c["nonce"] != nonce {
			t.Errorf("nonce = %.40q, want %.40q", c["nonce"], nonce)
		}
	}
}

func TestResourceOfAGrantCannotBeExchangedForAnother(t *testing.T) {
	h := newFixtureWith(t, oauth.TokensConfig{Resources: []string{issuer + "/api/mcp", issuer + "/api/x"}})
	code := h.code("resource", issuer+"/api/mcp")
	h.exchange(code, "resource", issuer+"/api/x").wants(t, "another resource", 400, 400, "invalid_target")
	tokens := h.exchange(code, "resource", issuer+"/api/mcp").tokens(t)
	c := payload(t, h.refresh(tokens.text("refresh_token")).tokens(t).text("access_token"))
	if c["aud"] != issuer+"/api/mcp" {
		t.Errorf("aud after a refresh = %v, want the grant's resource", c["aud"])
	}
}

func TestEdDSAAndRS256SignAccessTokensWhereConfigured(t *testing.T) {
	for _, alg := range []string{"EdDSA", "RS256"} {
		h := newFixtureWith(t, oauth.TokensConfig{SigningAlg: alg})
		h.app.IDTokenAlg = alg
		h.app = must(h.store.SaveApp(t.Context(), h.app))(t)
		tokens := h.exchange(h.code()).tokens(t)
		if u := h.userInfo(tokens.text("access_token")); u.status != 200 {
			t.Errorf("%s: userinfo = %d %v", alg, u.status, u.body)
		}
	}
}
