package oauth_test

import (
	"strings"
	"testing"
	"time"
)

// A provider that does not prove what the application has asked for leads to login_required, and not to a code.
func TestUnprovenSignInIsLoginRequired(t *testing.T) {
	h := newFixture(t)
	for _, asks := range [][]string{{"prompt", "login"}, {"max_age", "60"}} {
		to := h.authorize(append(asks, "keystile_login", "unproven")...).Header().Get("Location")
		if !strings.HasPrefix(to, redirect) || !strings.Contains(to, "error=login_required") ||
			!strings.Contains(to, "state=") || strings.Contains(to, "code=") {
			t.Errorf("%s: the browser is led to %s", asks, to)
		}
	}
}

// Nobody knows how old a session is whose provider has not said when its user signed in.
func TestSessionOfAnUnknownAgeMeetsNoMaxAge(t *testing.T) {
	h := newFixture(t)
	h.browser.session.Unsaid, h.browser.session.AuthTime = true, time.Now()
	to := h.authorize("max_age", "3600", "prompt", "none").Header().Get("Location")
	if !strings.Contains(to, "error=login_required") {
		t.Errorf("max_age leads to %s", to)
	}
	claims := payload(t, h.exchange(h.code("scope", "openid")).tokens(t).text("id_token"))
	if at, there := claims["auth_time"]; there {
		t.Errorf("auth_time is %v, of a time that nobody knows", at)
	}
}
