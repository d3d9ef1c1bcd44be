package pages

import (
	"strings"
	"testing"
)

// Where no script runs, each way in ends at the claims too. Only the page of the code does
// not go on by itself: it has a button for that.
func TestSignInNeedsNoScript(t *testing.T) {
	t.Parallel()
	v := alone(t)
	v.Scripts(false)
	for _, way := range waysIn {
		if strings.HasPrefix(way.name, "qr") {
			continue
		}
		v.Forget()
		v.begin()
		way.by(v)
		if claims := v.arrive(); claims["login_type"] != way.loginType {
			t.Errorf("%s: login_type %v", way.name, claims["login_type"])
		}
	}

	v.Forget()
	v.begin()
	v.Follow(`a[href^="/oauth/signin/qr"]`)
	v.Follow("#collect button") // too early
	v.says("Sign in to %s with your phone", appName)
	if got := v.Text(".alert"); !strings.HasPrefix(got, "You have not confirmed on your phone yet") {
		t.Errorf("who goes on too early is told %q", got)
	}
	v.look("qr-noscript")
	phone := *v
	phone.with(v.device)
	phone.Scripts(false)
	phone.at("/oauth/signin/scan/" + v.Attribute("#collect [name=id]", "value"))
	phone.password()
	phone.Follow("button[value=confirm]")
	v.Follow("#collect button")
	if claims := v.arrive(); claims["login_type"] != "self" {
		t.Errorf("by a code: login_type %v", claims["login_type"])
	}
	v.quiet("409", "400", "202")
}
