package pages

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/filled"
)

// withStrangers serves a data folder that knows applications that nobody registered, and some tools.
func withStrangers(t *testing.T) *service {
	t.Helper()
	data := t.TempDir()
	args := []string{"--limits-per-ip", "100000"}
	start(t, data, args...).stop()
	filled.Strangers(t, data)
	return start(t, data, args...)
}

// asks opens the authorize request of an application.
func (v *walkthrough) asks(id, redirect, scope string, more ...string) {
	v.t.Helper()
	v.at(filled.AuthorizePath(id, redirect, scope, more...))
}

// strangers looks at the consent pages of applications that no user registered here, on phones on a
// narrow one, and at the account page with them.
func (v *walkthrough) strangers() {
	v.t.Helper()
	own := *v
	v = &own
	v.s = withStrangers(v.t)
	if v.device.Phone {
		v.device.Width, v.device.Height = 360, 740
	}
	v.with(v.device)
	program := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `<!doctype html><title>x</title><link rel="icon" href="data:,"><h1>%s</h1>`, html.EscapeString(r.URL.Query().Get("iss")))
	}))
	defer program.Close()
	localURI := program.URL + "/callback"
	v.asks(filled.DocumentID, filled.RemoteURI, "openid tools")
	v.says("Sign in to %s", "agent.example.com")
	v.look("stranger-signin")
	v.password()
	v.says("Allow %s?", "agent.example.com")
	v.look("stranger-document")
	v.asks(filled.DocumentID, localURI, "openid tools")
	v.look("stranger-local")
	v.Click("[name=tools][value=some]")
	v.Click(".picks details:nth-of-type(1) summary")
	v.Click(".picks details:nth-of-type(2) summary")
	v.look("stranger-choice")
	v.Follow("button[name=allow]")
	v.says("Allow %s?", "agent.example.com")
	v.look("stranger-nothing")
	v.Click("[name=tools][value=read]")
	v.Follow("button[name=allow]")
	if got := v.Text("h1"); got != v.s.base || !strings.HasPrefix(v.URL(), localURI+"?code=") {
		v.t.Errorf("the browser ends at %s, which says %q", v.URL(), got)
	}
	v.asks(filled.DynamicID, filled.SchemeURI, "openid tools/read")
	v.says("Allow this application?")
	v.look("stranger-dynamic")
	v.at("/oauth/account")
	v.says("Your account")
	v.look("stranger-account")
}
