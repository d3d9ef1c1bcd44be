package pages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/browser"
)

// Decision 16. With KEYSTILE_SCREENSHOTS=folder the pages are kept as pictures,
// light, dark and narrow.
func TestBrowserGoesFromTheButtonToTheClaims(t *testing.T) {
	t.Parallel()
	p := browser.Start(t)
	s := start(t, t.TempDir())
	who := firstRunOf(t, s.data).Admin

	p.Look(1000, false)
	p.Open(s.base + "/demo")
	look(t, p, "demo")
	p.Follow("a.button")
	if !strings.HasPrefix(p.URL(), s.base+"/oauth/authorize?") {
		t.Fatalf("the button leads to %s", p.URL())
	}
	p.Type("#username", who.Username)
	p.Type("#password", who.Password)
	p.Follow("button[type=submit]")

	if p.URL() != s.base+"/demo/result" {
		t.Fatalf("the form leads to %s: %s", p.URL(), p.Text("body"))
	}
	p.Open(p.URL()) // as somebody who reloads the page
	if got := p.Text("h1"); got != "Hello, Admin" {
		t.Errorf("h1 = %q", got)
	}
	for _, want := range []string{"preferred_username\tadmin", "iss\t" + s.base, "login_type\tself"} {
		if got := p.Text("#claims"); !strings.Contains(got, want) {
			t.Errorf("the claims do not show %q:\n%s", want, got)
		}
	}
	look(t, p, "claims")

	p.Follow("form [type=submit]")
	if p.URL() != s.base+"/demo" {
		t.Errorf("signing out leads to %s", p.URL())
	}
	p.Open(s.base + "/demo/callback?state=x")
	look(t, p, "failure")
	p.Follow("a.button")
	if p.URL() != s.base+"/demo" {
		t.Errorf("the way back leads to %s", p.URL())
	}
	p.Open(s.base + "/")
	for _, fault := range p.Faults() {
		if !strings.Contains(fault, "status of 400") { // the failure above, on purpose
			t.Errorf("the browser complains: %s", fault)
		}
	}
}

// look makes sure that a page fits every window.
func look(t *testing.T, p *browser.Page, name string) {
	t.Helper()
	folder := os.Getenv("KEYSTILE_SCREENSHOTS")
	for _, c := range []struct {
		name  string
		width int
		dark  bool
	}{{"narrow", 390, false}, {"dark", 1000, true}, {"light", 1000, false}} {
		p.Look(c.width, c.dark)
		if p.Overflows() {
			t.Errorf("%s is wider than %d pixels", name, c.width)
		}
		if folder != "" {
			p.Screenshot(filepath.Join(folder, name+"-"+c.name+".png"))
		}
	}
}
