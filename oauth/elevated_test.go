package oauth_test

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
)

// Decision 52: the scope that manages a user's applications is asked for each time, by every
// application and after any consent.
func TestManagementIsNeverGrantedWithoutAQuestion(t *testing.T) {
	h, c := fixtureWithConsent(t)
	c.allowed = true // to everything that is remembered
	for _, firstParty := range []bool{false, true} {
		h.app.FirstParty = firstParty
		h.app = h.register(h.app)
		c.asked, c.once = nil, 0
		if w := h.authorize("scope", "openid apps"); w.Header().Get("Location") != "" ||
			!slices.Equal(c.asked, []string{"openid apps"}) {
			t.Errorf("first-party %v: %d to %q, asked %q", firstParty, w.Code, w.Header().Get("Location"), c.asked)
		}
		c.once = 1
		h.code("scope", "openid apps")
		if h.authorize("scope", "openid apps"); len(c.asked) != 2 {
			t.Errorf("first-party %v: one yes was good for two grants", firstParty)
		}
		c.once = 1
		if to := h.authorize("scope", "apps", "prompt", "none").Header().Get("Location"); !strings.Contains(to,
			"error=consent_required") || c.once != 1 {
			t.Errorf("first-party %v: prompt=none leads to %q, and leaves %d answers", firstParty, to, c.once)
		}
	}
}

func TestManagementTakesARecentSignIn(t *testing.T) {
	h, c := fixtureWithConsent(t)
	for age, prompts := range map[time.Duration]int{9 * time.Minute: 0, 11 * time.Minute: 1, -time.Hour: 1} {
		c.once, h.browser.prompts = 1, 0
		h.browser.session.AuthTime = time.Now().Add(-age)
		if h.authorize("scope", "apps"); h.browser.prompts != prompts || c.once != prompts {
			t.Errorf("signed in %v ago: asked to sign in %d times, %d answers left", age, h.browser.prompts, c.once)
		}
		if prompts == 0 {
			continue
		}
		if to := h.authorize("scope", "apps", "prompt", "none").Header().Get("Location"); !strings.Contains(to,
			"error=login_required") {
			t.Errorf("signed in %v ago, prompt=none leads to %q", age, to)
		}
		c.allowed = true
		h.code("scope", "openid") // nothing else takes one
	}
}

// Decision 91: a trusted browser's sign-in is for applications, and hands no application the management of others.
func TestManagementTakesTheSecondFactorOfWhoHasOne(t *testing.T) {
	h, c := fixtureWithConsent(t)
	c.allowed, c.once, h.browser.owes = true, 1, true
	if w := h.authorize("scope", "openid apps"); w.Header().Get("Location") != "" || h.browser.prompts != 1 ||
		c.once != 1 {
		t.Errorf("without it = %d to %q, asked %d times, %d answers left", w.Code, w.Header().Get("Location"),
			h.browser.prompts, c.once)
	}
	if to := h.authorize("scope", "apps", "prompt", "none").Header().Get("Location"); !strings.Contains(to,
		"error=login_required") {
		t.Errorf("without it, prompt=none leads to %q", to)
	}
	h.code("scope", "openid") // nothing else takes it
	h.browser.owes = false
	h.code("scope", "openid apps")
}

func TestManagementLastsAnHourAndNoRefreshRenewsIt(t *testing.T) {
	h, c := fixtureWithConsent(t)
	c.once = 1
	granted := h.exchange(h.code("scope", "openid apps tools")).tokens(t)
	if got := granted.body["expires_in"]; got != float64(3600) {
		t.Errorf("expires_in = %v, want 3600", got)
	}
	if caller, err := h.tokens.Verify(t.Context(), granted.text("access_token")); err != nil ||
		caller.Scope != "openid apps tools" || time.Until(caller.ExpiresAt) > time.Hour {
		t.Errorf("the token speaks for %+v, %v", caller, err)
	}
	// libraries send what they asked for first
	next := h.refresh(granted.text("refresh_token"), "scope", "openid apps tools")
	if next.text("scope") != "openid tools" || next.body["expires_in"] != float64(604800) {
		t.Errorf("a refresh grants %q for %v s", next.text("scope"), next.body["expires_in"])
	}
	stored := must(h.store.Token(t.Context(), handle.KeyOf(next.text("refresh_token"))))(t)
	if stored.Scope != "openid tools" {
		t.Errorf("the refresh token keeps %q", stored.Scope)
	}
	c.once = 1
	alone := h.exchange(h.code("scope", "apps")).tokens(t)
	if got := h.refresh(alone.text("refresh_token")).text("scope"); got != "" {
		t.Errorf("a grant of apps alone is refreshed to %q", got)
	}
}

func TestManagementIsNotGrantedWithoutAConsentPage(t *testing.T) {
	h := newFixture(t)
	if got := h.exchange(h.code("scope", "openid apps")).text("scope"); got != "openid" {
		t.Errorf("granted %q", got)
	}
	if got := h.token("grant_type", "client_credentials", "scope", "apps tools app").text("scope"); got != "app" {
		t.Errorf("an application's own token has %q", got)
	}
}

// Decision 53.
func TestToolsAreGrantedAndNarrowed(t *testing.T) {
	h := newFixture(t)
	granted := h.exchange(h.code("scope", "openid tools:shop tools tools:b:support tools: tools:b:")).tokens(t)
	if got := granted.text("scope"); got != "openid tools:shop tools tools:b:support" {
		t.Fatalf("granted %q", got)
	}
	if got := granted.body["expires_in"]; got != float64(604800) {
		t.Errorf("expires_in = %v", got)
	}
	next := h.refresh(granted.text("refresh_token"), "scope", "tools:pay")
	if next.text("scope") != "tools:pay" {
		t.Errorf("tools is narrowed to %q", next.text("scope"))
	}
	only := h.exchange(h.code("scope", "tools:shop")).tokens(t)
	for _, wider := range []string{"tools", "tools:pay", "tools:b:shop", "openid tools:shop"} {
		if a := h.refresh(only.text("refresh_token"), "scope", wider); a.status != 400 || a.text("error") != "invalid_scope" {
			t.Errorf("tools:shop is refreshed to %q: %d %v", wider, a.status, a.body)
		}
	}
	many := make([]string, 100)
	for i := range many {
		many[i] = "tools:m" + strings.Repeat("x", i%48)
	}
	if got := len(strings.Fields(h.exchange(h.code("scope", strings.Join(many, " "))).text("scope"))); got != 32 {
		t.Errorf("one grant carries %d names, want at most 32", got)
	}
}

func TestMetadataListsTheToolScopes(t *testing.T) {
	h, _ := fixtureWithConsent(t)
	for path, want := range map[string]string{
		"/.well-known/oauth-authorization-server": `"scopes_supported":["openid","profile","email","groups","tools","tools/read","apps"]`,
		"/.well-known/openid-configuration":       `"scopes_supported":["openid","profile","email"]`, // protocol 2.5: exactly
	} {
		if w := h.serve(httptest.NewRequest("GET", path, nil)); !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s lacks %s: %s", path, want, w.Body)
		}
	}
}
