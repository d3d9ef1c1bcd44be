package pages

import (
	"net"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/browser"
)

// startNamed starts a service whose host has a name: browsers keep passkeys for no address.
func startNamed(t *testing.T) *service {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(at)
	return start(t, t.TempDir(), "--listen", at, "--base-url", "http://localhost:"+port, "--limits-per-ip", "100000")
}

// People add a passkey, sign in with it alone, prove it after a password, rename and remove it.
func TestPasskeyIsAddedAndUsed(t *testing.T) {
	t.Parallel()
	b, all := browser.Launch(t), &looked{at: map[string]bool{}}
	for _, reads := range []reader{english, chinese} {
		s := startNamed(t)
		for _, device := range []browser.Device{browser.Desktop, browser.Phone} {
			t.Run(reads.name+" "+device.Name, func(t *testing.T) {
				v := &walkthrough{t: t, b: b, s: s, reads: reads, looked: all}
				v.with(device)
				v.KeepPasskeys()
				v.passkey("ada-" + strings.ToLower(device.Name))
				v.quiet("400", "401")
			})
		}
	}
}

func (v *walkthrough) passkey(user string) {
	v.t.Helper()
	must(v.t, "user", "create", "--data", v.s.data, "--username", user, "--password", browserPassword)
	v.signsIn(user)
	v.at("/oauth/account")
	v.look("account-before-passkey")
	v.Follow(`a[href="/oauth/account/passkeys"]`)
	v.says("Passkeys")
	v.look("passkeys-none")
	v.Shown("#passkey")
	v.Type("#name", "my laptop")
	v.Follow("#passkey button")
	v.says("Two-step sign-in")
	v.look("factors-passkey")
	v.Follow(`form[action="/oauth/account/factors/codes"] button`)
	v.says("Your recovery codes")
	v.at("/oauth/account/passkeys")
	v.look("passkeys")

	// The browser's own list of passkeys needs nothing but the page. This device answers it at once.
	v.Forget()
	v.at("/oauth/signin")
	v.Arrive()
	v.says("You are signed in")

	v.Scripts(false) // else the passkey would be in before the password
	v.signsIn(user)
	v.says("Confirm that it is you")
	v.look("factor-passkey-noscript")
	v.Scripts(true)
	v.at("/oauth/signin/factor")
	v.Shown("#passkey")
	v.look("factor-passkey")
	v.Follow("#passkey button")
	v.says("You are signed in")

	// A user who confirms their identity, and has a passkey, is asked for it at once.
	v.at("/oauth/account/confirm")
	v.Arrive()
	v.says("Your account")

	v.at("/oauth/account/passkeys")
	v.Click("summary")
	v.Type("li [name=name]", " of old")
	v.Follow("details button")
	v.says("Passkeys")
	v.Follow(`form[action="/oauth/account/passkeys/end"] button`)
	v.says("Passkeys")
	v.look("passkeys-none")
}
