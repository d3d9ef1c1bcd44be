package oauth_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
)

// stranger makes the application of a fixture one that nobody registered.
func (h *fixture) stranger() {
	h.Helper()
	h.app = storage.App{ID: "ks-aaaaaaaaaaaaaaaaaaaa", Name: "Agent", Public: true,
		Client: &client.Description{Kind: client.Dynamic, RedirectURIs: []string{redirect},
			Grants: []string{"authorization_code", "refresh_token"}, AuthMethod: client.AuthNone}}
	app, err := h.store.SaveApp(h.Context(), h.app)
	if err != nil {
		h.Fatal(err)
	}
	h.app = app
}

var challenge = []string{"code_challenge", challengeOf(verifier), "code_challenge_method", "S256"}

// strangerToken redeems a code of it.
func (h *fixture) strangerToken(pairs ...string) answer {
	h.Helper()
	return h.post("/oauth/token", form(append([]string{"client_id", h.app.ID}, pairs...)...))
}

// Decision 55, RFC 6749 5.1: a grant holds what the user has allowed, the token response names it, and
// no refresh takes more.
func TestGrantHoldsWhatTheUserAllowed(t *testing.T) {
	h, c := fixtureWithConsent(t)
	h.stranger()
	c.allowed, c.less = true, "openid tools:shop/getPet tools:b:support"
	code := h.code(append([]string{"scope", "openid tools"}, challenge...)...)
	got := h.strangerToken("grant_type", "authorization_code", "code", code, "redirect_uri", redirect, "code_verifier",
		verifier).tokens(t)
	if got.text("scope") != c.less {
		t.Errorf("the token response names %q, want %q", got.text("scope"), c.less)
	}
	caller, err := h.tokens.Verify(t.Context(), got.text("access_token"))
	if err != nil || caller.Scope != c.less {
		t.Errorf("the token holds %q, %v", caller.Scope, err)
	}
	c.less = "openid tools" // what is allowed later is for later grants
	for _, wide := range []string{"tools", "openid tools/read", "tools:shop", "tools:b:other", "tools:shop/putPet"} {
		if a := h.strangerToken("grant_type", "refresh_token", "refresh_token", got.text("refresh_token"), "scope",
			wide); a.status != 400 || a.text("error") != "invalid_scope" {
			t.Errorf("a refresh with %q = %d %v", wide, a.status, a.body)
		}
	}
	next := h.strangerToken("grant_type", "refresh_token", "refresh_token", got.text("refresh_token")).tokens(t)
	if next.text("scope") != "openid tools:shop/getPet tools:b:support" {
		t.Errorf("refreshed, it names %q", next.text("scope"))
	}
	less := h.strangerToken("grant_type", "refresh_token", "refresh_token", next.text("refresh_token"), "scope",
		"tools:shop/getPet").tokens(t)
	if less.text("scope") != "tools:shop/getPet" {
		t.Errorf("a refresh with less names %q", less.text("scope"))
	}
}

// A Consent of a host's own cannot grant what nobody has asked for.
func TestConsentDoesNotWidenARequest(t *testing.T) {
	for _, wide := range []string{"openid email", "openid tools", "openid apps", "openid tools:shop tools:bank"} {
		h, c := fixtureWithConsent(t)
		c.allowed, c.less = true, wide
		if w := h.authorize("scope", "openid tools:shop"); w.Header().Get("Location") != "" || len(c.asked) != 1 {
			t.Errorf("%q for less: %d to %s", wide, w.Code, w.Header().Get("Location"))
		}
	}
}

func errorOf(location string) string {
	to, _ := url.Parse(location)
	return to.Query().Get("error")
}

// Decision 55: it is never first-party, and what cannot be asked is not granted.
func TestApplicationThatNobodyRegisteredAlwaysAsks(t *testing.T) {
	h, c := fixtureWithConsent(t)
	h.stranger()
	if w := h.authorize(append([]string{"scope", "openid tools"}, challenge...)...); w.Body.String() != "may it?" {
		t.Errorf("at first: %d %s", w.Code, w.Body)
	}
	if w := h.authorize(append([]string{"scope", "openid tools", "prompt", "none"}, challenge...)...); !leadsTo(w,
		"interaction_required") {
		t.Errorf("with prompt=none: %d to %s", w.Code, w.Header().Get("Location"))
	}
	if w := h.authorize(append([]string{"keystile_consent", "denied"}, challenge...)...); !leadsTo(w, "access_denied") {
		t.Errorf("after a no: %d to %s", w.Code, w.Header().Get("Location"))
	}
	c.allowed = true
	h.code(append([]string{"scope", "openid tools", "prompt", "none"}, challenge...)...)

	h = newFixture(t, func(o *oauth.Config) { o.Log = quiet })
	h.stranger()
	w := h.authorize(append([]string{"scope", "openid"}, challenge...)...)
	if !leadsTo(w, "access_denied") || !strings.Contains(w.Body.String(), "cannot ask") {
		t.Errorf("at a service that asks nobody: %d %s", w.Code, w.Body)
	}
}
