package pages

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/browser"
)

// Decisions 21 and 22, as a user meets them.
func TestBrowserSaysNoThenYesAndTakesItBack(t *testing.T) {
	t.Parallel()
	p := browser.Start(t)
	s := start(t, t.TempDir())
	record := firstRunOf(t, s.data)
	must(t, "app", "set", record.App.ClientID, "--data", s.data, "--first-party=false", "--tier", "white_label",
		"--brand-name", "Blue Whale", "--brand-color", "#0a5c8a")

	p.Look(1000, false)
	p.Open(s.base + "/demo")
	p.Follow("a.button")
	p.Type("#username", record.Admin.Username)
	p.Type("#password", record.Admin.Password)
	p.Follow("button[type=submit]")
	if got := p.Text("h1"); got != "Allow Blue Whale?" || strings.Contains(p.Text("body"), "Keystile") {
		t.Fatalf("after signing in: %q at %s: %s", got, p.URL(), p.Text("body"))
	}
	look(t, p, "consent")
	p.Follow("button[name=deny]")
	if !strings.HasPrefix(p.URL(), s.base+"/demo/callback?error=access_denied") {
		t.Errorf("a no leads to %s", p.URL())
	}

	p.Open(s.base + "/demo")
	p.Follow("a.button")
	p.Follow("button[name=allow]")
	if got := p.Text("h1"); got != "Hello, Admin" {
		t.Fatalf("after a yes: %q at %s", got, p.URL())
	}
	p.Open(s.base + "/demo")
	p.Follow("a.button")
	if got := p.Text("h1"); got != "Hello, Admin" {
		t.Errorf("a yes is not remembered: %q at %s", got, p.URL())
	}

	p.Open(s.base + "/oauth/signin")
	p.Follow("a[href='/oauth/account']")
	if got := p.Text("body"); !strings.Contains(got, "Blue Whale") || !strings.Contains(got, "Chrome on Linux") {
		t.Errorf("the account page says %s", got)
	}
	look(t, p, "account")
	p.Open(s.base + "/oauth/account?ui_locales=zh-CN")
	look(t, p, "account-zh")
	p.Follow("form[action='/oauth/account/access'] button")
	if got := p.Text("body"); strings.Contains(got, "Blue Whale") {
		t.Errorf("after removing access: %s", got)
	}
	p.Open(s.base + "/demo")
	p.Follow("a.button")
	if got := p.Text("h1"); got != "Allow Blue Whale?" {
		t.Errorf("after removing access nobody is asked: %q at %s", got, p.URL())
	}
	p.Follow("button[name=other]")
	if got := p.Text("h1"); got != "Sign in to Blue Whale" {
		t.Errorf("another account: %q at %s", got, p.URL())
	}
	for _, fault := range p.Faults() {
		if !strings.Contains(fault, "status of 400") { // the demo's page for a no
			t.Errorf("the browser complains: %s", fault)
		}
	}
}
