package host

import (
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

// accounts signs an administrator and a user in at a service, and returns how each reads a page.
func accounts(t *testing.T, origin string) (administrator, user func(path, lang string) string) {
	t.Helper()
	c, _ := newConfig()
	c.BaseURL = origin
	service := start(t, c)
	table := users.New(service.Store, c.SignIn.Passwords)
	in := func(name, role string) func(path, lang string) string {
		const password = "correct horse battery"
		u := storage.User{Username: name, Role: role}
		if _, err := table.Create(t.Context(), u, password); err != nil {
			t.Fatal(err)
		}
		form := url.Values{"username": {name}, "password": {password}}.Encode()
		w := ask(service, "POST", "/oauth/signin", form, "Origin", origin)
		var cookies []string
		for _, cookie := range w.Result().Cookies() {
			cookies = append(cookies, cookie.Name+"="+cookie.Value)
		}
		return func(path, lang string) string {
			w := ask(service, "GET", path, "", "Cookie", strings.Join(cookies, "; "), "Accept-Language", lang)
			if w.Code != 200 {
				t.Fatalf("%s at %s is answered %d", name, path, w.Code)
			}
			return w.Body.String()
		}
	}
	return in("ada", storage.RoleAdmin), in("carl", "")
}

func TestAccountPageLeadsBackToTheConsoleThoseWhoHaveARole(t *testing.T) {
	administrator, user := accounts(t, base)
	const link = `<a href="/console/">`
	for lang, text := range map[string]string{"en": "Back to the console", "zh": "返回控制台"} {
		if page := administrator("/oauth/account", lang); !strings.Contains(page, link+text+"</a>") {
			t.Errorf("in %s the administrator's page has no way back", lang)
		}
	}
	if page := user("/oauth/account", "en"); strings.Contains(page, link) {
		t.Error("a user without a role is led to the console")
	}
}

func TestPageOfFactorsSaysWhatPasskeysNeed(t *testing.T) {
	for origin, c := range map[string]struct{ want, without string }{
		"http://127.0.0.1:8080":  {"use http://localhost:8080 as the address", "Add a passkey"},
		"http://[::1]":           {"use http://localhost as the address", "Add a passkey"},
		"http://localhost:8080":  {"Add a passkey", "without a name"},
		"https://id.example.com": {"Add a passkey", "without a name"},
		"https://192.0.2.1":      {"", "asskey"},
	} {
		_, user := accounts(t, origin)
		page := user("/oauth/account/factors", "en")
		if !strings.Contains(page, c.want) || strings.Contains(page, c.without) {
			t.Errorf("at %s the page has %q: %t, and %q: %t", origin, c.want, strings.Contains(page, c.want), c.without,
				strings.Contains(page, c.without))
		}
	}
}
