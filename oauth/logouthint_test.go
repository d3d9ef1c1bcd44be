package oauth_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
)

const bye = "https://app.example.com/bye"

// idTokenOf gets an id_token of the fixture's user for its application.
func (h *fixture) idTokenOf() string {
	h.Helper()
	return h.exchange(h.code()).tokens(h).text("id_token")
}

func TestLogoutSendsNobodyOnWithoutAQuestionOrAHint(t *testing.T) {
	h := newFixture(t)
	h.browser.session = nil
	w := h.logout("GET", nil, "client_id", h.app.ID, "post_logout_redirect_uri", bye+"?x=1", "state", `a"b`)
	if w.Code != 200 || w.Header().Get("Location") != "" {
		t.Fatalf("GET logout of a visitor = %d to %q, want a page: any site can send a browser here", w.Code,
			w.Header().Get("Location"))
	}
	for _, want := range []string{"You are signed out", `href="https://app.example.com/bye?x=1&amp;state=a%22b"`, "app.example.com"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the page lacks %s: %s", want, w.Body)
		}
	}
}

func TestLogoutNeverRedirectsToADisabledApplication(t *testing.T) {
	h := newFixture(t)
	hint := h.idTokenOf()
	app := must(h.store.App(context.Background(), h.app.ID))(t)
	app.Disabled = true
	must(h.store.SaveApp(context.Background(), app))(t)
	to := []string{"client_id", h.app.ID, "post_logout_redirect_uri", bye}
	for name, pairs := range map[string][]string{
		"with client_id":     to,
		"with id_token_hint": {"id_token_hint", hint, "post_logout_redirect_uri", bye},
		"with both":          append(to, "id_token_hint", hint),
	} {
		for _, method := range []string{"GET", "POST"} {
			for _, signedIn := range []bool{true, false} {
				if h.browser.session = nil; signedIn {
					h.browser.signIn(h.user)
				}
				w := h.logout(method, nil, pairs...)
				if w.Code != 200 || w.Header().Get("Location") != "" || strings.Contains(w.Body.String(), bye) {
					t.Errorf("%s: %s logout, signed in %t = %d to %q: %s", name, method, signedIn, w.Code, w.Header().Get("Location"),
						w.Body)
				}
			}
		}
	}
}

func TestHintOfThePresentSessionSignsOutAndGoesBackAtOnce(t *testing.T) {
	for name, change := range map[string]func(*fixture){
		"HS256": func(*fixture) {},
		"HS256, the secret is being rotated": func(h *fixture) {
			app := must(h.store.App(context.Background(), h.app.ID))(h)
			app.Secrets[0].ExpiresAt = time.Now().Add(time.Hour)
			app.Secrets = append([]storage.AppSecret{{Secret: storage.DrawSecret(), CreatedAt: time.Now()}}, app.Secrets...)
			must(h.store.SaveApp(context.Background(), app))(h)
		},
		"the application has changed to ES256": func(h *fixture) {
			app := must(h.store.App(context.Background(), h.app.ID))(h)
			app.IDTokenAlg = token.ES256
			must(h.store.SaveApp(context.Background(), app))(h)
		},
		"nobody is signed in": func(h *fixture) { h.browser.session = nil },
	} {
		h := newFixture(t)
		hint := h.idTokenOf()
		change(h)
		w := h.logout("GET", nil, "id_token_hint", hint, "post_logout_redirect_uri", bye, "state", "s 1")
		if w.Code != 302 || w.Header().Get("Location") != bye+"?state=s+1" || h.browser.session != nil {
			t.Errorf("%s: GET logout = %d to %q, signed out %t", name, w.Code, w.Header().Get("Location"),
				h.browser.session == nil)
		}
	}
	h := newFixture(t)
	app := must(h.store.App(context.Background(), h.app.ID))(t)
	app.IDTokenAlg = token.ES256
	must(h.store.SaveApp(context.Background(), app))(t)
	w := h.logout("GET", nil, "id_token_hint", h.idTokenOf(), "client_id", h.app.ID, "post_logout_redirect_uri", bye)
	if w.Code != 302 || h.browser.session != nil {
		t.Errorf("ES256: GET logout = %d, signed out %t", w.Code, h.browser.session == nil)
	}
}

func TestHintIsGoodAfterItHasExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		hint := h.idTokenOf()
		time.Sleep(50 * time.Hour)
		w := h.logout("GET", nil, "id_token_hint", hint, "post_logout_redirect_uri", bye)
		if w.Code != 302 || h.browser.session != nil {
			t.Errorf("GET logout = %d, signed out %t: a hint is for recognising a session (RP-Initiated Logout 1.0, 2)", w.Code,
				h.browser.session == nil)
		}
	})
}

func TestInvalidHintShowsTheConfirmationPage(t *testing.T) {
	h := newFixture(t)
	hint := h.idTokenOf()
	ended := func(h *fixture) string { // a hint of a secret that has ended
		app := must(h.store.App(context.Background(), h.app.ID))(t)
		app.Secrets[0].ExpiresAt = time.Now().Add(-time.Second)
		app.Secrets = append([]storage.AppSecret{{Secret: storage.DrawSecret(), CreatedAt: time.Now()}}, app.Secrets...)
		must(h.store.SaveApp(context.Background(), app))(t)
		return hint
	}
	other := h.register(storage.App{Name: "Other", Domains: []string{"app.example.com"}})
	otherUser := must(h.store.CreateUser(context.Background(), storage.User{Username: "eve"},
		storage.Login{Method: storage.LoginSelf, Subject: "eve"}))(t)
	claims := func(change map[string]any) []byte {
		c := payload(t, hint)
		for name, value := range change {
			c[name] = value
		}
		return must(json.Marshal(c))(t)
	}
	signed := func(change map[string]any) string {
		return token.SignHS256(h.app.AppKey(), token.TypeID, claims(change))
	}
	parts := strings.Split(hint, ".")
	cases := map[string][]string{
		"none":           {},
		"no token":       {"id_token_hint", "x.y.z"},
		"no signature":   {"id_token_hint", parts[0] + "." + parts[1] + "."},
		"another secret": {"id_token_hint", token.SignHS256(other.AppKey(), token.TypeID, claims(nil))},
		"of another application": {"id_token_hint", token.SignHS256(other.AppKey(), token.TypeID,
			claims(map[string]any{"aud": other.ID}))},
		"another issuer":             {"id_token_hint", signed(map[string]any{"iss": "https://evil.example"})},
		"of somebody else":           {"id_token_hint", signed(map[string]any{"sub": otherUser.Sub})},
		"another audience":           {"id_token_hint", signed(map[string]any{"aud": other.ID})},
		"no audience":                {"id_token_hint", signed(map[string]any{"aud": nil})},
		"no id_token":                {"id_token_hint", token.SignHS256(h.app.AppKey(), token.TypeAccess, claims(nil))},
		"an access token":            {"id_token_hint", h.exchange(h.code()).tokens(t).text("access_token")},
		"signed with nothing":        {"id_token_hint", "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0." + parts[1] + ".AA"},
		"the secret ended meanwhile": nil,
	}
	for name, hint := range cases {
		if hint == nil {
			continue
		}
		h.confirmsFirst(name, hint)
	}
	h.confirmsFirst("the secret ended meanwhile", []string{"id_token_hint", ended(h)})
}

func (h *fixture) confirmsFirst(name string, hint []string) {
	h.Helper()
	for _, signedIn := range []bool{true, false} {
		if h.browser.session = nil; signedIn {
			h.browser.signIn(h.user)
		}
		w := h.logout("GET", nil, append([]string{"client_id", h.app.ID, "post_logout_redirect_uri", bye}, hint...)...)
		if signedIn && name == "of somebody else" && h.browser.session == nil {
			h.Errorf("%s: somebody else's hint signs the visitor out", name)
		}
		if !signedIn && name == "of somebody else" {
			continue // ours, and nobody is there whom it could be held against
		}
		if w.Code != 200 || w.Header().Get("Location") != "" || signedIn != (h.browser.session != nil) {
			h.Errorf("%s: GET logout, signed in %t = %d to %q, now signed in %t; want a page and no change", name, signedIn,
				w.Code, w.Header().Get("Location"), h.browser.session != nil)
		}
	}
}

func TestHEADOfLogoutChangesNothing(t *testing.T) {
	h := newFixture(t)
	w := h.logout("HEAD", nil, "id_token_hint", h.idTokenOf(), "post_logout_redirect_uri", bye)
	if w.Code != 200 || h.browser.session == nil {
		t.Errorf("HEAD logout = %d, signed out %t", w.Code, h.browser.session == nil)
	}
}

func TestPublicApplicationsHintIsNeverSignedWithASecret(t *testing.T) {
	h := newFixture(t)
	app := must(h.store.App(context.Background(), h.app.ID))(t)
	hint := h.idTokenOf()
	app.Public, app.Secrets = true, nil
	must(h.store.SaveApp(context.Background(), app))(t)
	h.confirmsFirst("HS256 of a public application", []string{"id_token_hint", hint})
}
