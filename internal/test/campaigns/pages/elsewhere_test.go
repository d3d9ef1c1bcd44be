package pages

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/browser"
)

// A page of another site sends forms to authorize and logout, as ASP.NET does. A browser keeps the cookie of the
// session back there, and comes with it by the GET that it is led to.
func TestFormOfAnotherSiteArrives(t *testing.T) {
	t.Parallel()
	s := start(t, t.TempDir(), "--limits-per-ip", "100000")
	var app string
	sends := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := "http://" + r.Host
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<!doctype html><title>x</title><link rel="icon" href="data:,"><h1>%s</h1>`,
			html.EscapeString(r.URL.Path))
		form := func(id, path string, pairs ...string) {
			fmt.Fprintf(w, `<form id="%s" method="post" action="%s%s">`, id, s.base, path)
			for i := 0; i < len(pairs); i += 2 {
				fmt.Fprintf(w, `<input type="hidden" name="%s" value="%s">`, pairs[i], html.EscapeString(pairs[i+1]))
			}
			fmt.Fprint(w, `<button>Go on</button></form>`)
		}
		form("in", "/oauth/authorize", "client_id", app, "redirect_uri", at+"/cb", "response_type", "code", "state", "a b&c",
			"prompt", r.URL.Query().Get("prompt"))
		form("out", "/oauth/logout", "client_id", app, "post_logout_redirect_uri", at+"/bye")
	}))
	t.Cleanup(sends.Close)
	elsewhere := strings.Replace(sends.URL, "127.0.0.1", "localhost", 1)
	must(t, "user", "create", "--data", s.data, "--username", "ada", "--password", browserPassword)
	app = must(t, "app", "create", "--data", s.data, "--name", appName, "--domain",
		strings.TrimPrefix(elsewhere, "http://"), "--first-party")["client_id"].(string)

	v := &walkthrough{t: t, b: browser.Launch(t), s: s, reads: english, looked: &looked{at: map[string]bool{}}}
	v.with(browser.Desktop)
	arrives := func(how, path string) {
		t.Helper()
		if at := v.URL(); !strings.HasPrefix(at, elsewhere+path) {
			t.Fatalf("%s ends at %s: %s %v", how, at, v.Text("body"), v.Faults())
		}
	}
	v.Open(elsewhere + "/")
	v.Follow("#in button")
	v.Type("#username", "ada")
	v.Type("#password", browserPassword)
	v.Follow("form button[type=submit]")
	arrives("a form without a session", "/cb?code=")
	if !strings.Contains(v.URL(), "&state=a+b%26c") {
		t.Errorf("the state comes back in %s", v.URL())
	}
	v.Open(elsewhere + "/?prompt=none")
	v.Follow("#in button")
	arrives("a form with a session", "/cb?code=")

	v.Follow("#out button")
	v.says("Sign out?")
	v.Open(elsewhere + "/?prompt=none")
	v.Follow("#in button")
	arrives("a form after a form to sign out that nobody has confirmed", "/cb?code=")
	v.Follow("#out button")
	v.Follow("main form button")
	arrives("signing out", "/bye")
	v.Open(elsewhere + "/?prompt=none")
	v.Follow("#in button")
	arrives("a form after signing out", "/cb?error=login_required")
	v.quiet()
}
