package oauth_test

import (
	"context"
	"testing"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

// The records hold the method, and the setting says what applications are told of it, whenever the user
// signed in.
func TestApplicationsAreToldWhatLoginTypesSays(t *testing.T) {
	for _, c := range []struct {
		setting                 string
		session                 storage.Session
		user                    string
		wantsSession, wantsUser string
	}{
		{"", storage.Session{LoginType: "self", Method: "feishu"}, "feishu", "self", "self"},
		{"protocol", storage.Session{LoginType: "self", Method: "badge"}, "badge", "self", "self"},
		{"protocol", storage.Session{LoginType: "qq"}, "qq", "qq", "qq"},
		{"extended", storage.Session{LoginType: "self", Method: "feishu"}, "feishu", "feishu", "feishu"},
		{"extended", storage.Session{LoginType: "self", Method: "badge"}, "wx", "badge", "wx"},
		{"extended", storage.Session{LoginType: "self"}, "", "self", "self"}, // a record from before
		{"extended", storage.Session{LoginType: "email"}, "email", "email", "email"},
	} {
		h := newFixture(t, func(config *oauth.Config) { config.LoginTypes = c.setting })
		h.saveUser(func(u *storage.User) { u.LoginType = c.user })
		h.browser.session.LoginType, h.browser.session.Method = c.session.LoginType, c.session.Method
		a := h.exchange(h.code()).tokens(t)
		if got := a.body["user"].(map[string]any)["login_type"]; got != c.wantsSession {
			t.Errorf("%q, %s %s: the token answer says %v, want %s", c.setting, c.session.LoginType, c.session.Method, got,
				c.wantsSession)
		}
		for range 2 { // made, and remembered
			if got := h.userInfo(a.text("access_token")).text("login_type"); got != c.wantsUser {
				t.Errorf("%q, a user by %q: userinfo says %s, want %s", c.setting, c.user, got, c.wantsUser)
			}
		}
	}
}

func TestLoginTypesOfAnotherNameAreRefused(t *testing.T) {
	store := must(storage.Open(context.Background(), memory.New(), storage.NewMasterKey()))(t)
	tokens := must(oauth.OpenTokens(context.Background(), oauth.TokensConfig{BaseURL: issuer, Store: store,
		SweepEvery: -1}))(t)
	if s, err := oauth.New(context.Background(), oauth.Config{Tokens: tokens, SignIn: &fakeSignIn{},
		LoginTypes: "all"}); err == nil || s != nil {
		t.Errorf("New = %v, %v, want an error", s, err)
	}
}
