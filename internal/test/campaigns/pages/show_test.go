package pages

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/browser"
)

// Users can look at the password that they type, by the keyboard too and in their language. Where
// no script runs there is no button that would do nothing.
func TestPasswordCanBeLookedAt(t *testing.T) {
	t.Parallel()
	v := alone(t)
	v.begin()
	v.Type("#username", "nobody")
	v.Type("#password", "correct horse")
	state := func(when, kind, pressed string) {
		t.Helper()
		if got := v.Attribute("#password", "type"); got != kind {
			t.Errorf("%s: the field is a %s, want %s", when, got, kind)
		}
		if got := v.Attribute(".secret button", "aria-pressed"); got != pressed {
			t.Errorf("%s: aria-pressed is %s, want %s", when, got, pressed)
		}
	}
	state("at first", "password", "false")
	v.to("Show password")
	v.Press("Enter")
	state("after Enter", "text", "true")
	v.look("signin-shown")
	if f := v.Focus(); f.Name != "Show password" {
		t.Errorf("the focus is on %q", f.Name)
	}
	v.Press("Enter")
	state("after Enter again", "password", "false")
	v.Click(".secret button")
	state("after a click", "text", "true")
	v.Follow("form button[type=submit]") // and is wrong
	state("after the form was sent", "password", "false")

	v.at("/oauth/signin/signup?ui_locales=zh-CN")
	if got := v.Count(".secret button"); got != 1 {
		t.Errorf("%d buttons on the page to sign up", got)
	}
	v.quiet("401", "400")

	v.Scripts(false)
	v.begin()
	if got := v.Count(".secret button"); got != 0 {
		t.Errorf("%d buttons without scripts", got)
	}
}

// The link is hidden because there is no mouse and the window is narrow, whatever name the browser has.
func TestPhoneDoesNotOfferToScanItself(t *testing.T) {
	t.Parallel()
	v := alone(t)
	for _, d := range []browser.Device{browser.Phone, v.device} {
		v.with(d)
		v.at("/oauth/signin")
		if got := v.Text(".ways"); strings.Contains(got, "Scan with your phone") == d.Phone ||
			!strings.Contains(got, "Sign in with WeChat") {
			t.Errorf("the %s offers %s", d.Name, got)
		}
	}
}
