package pages

import (
	"net/url"
	"strings"
	"testing"
)

// Every page that people can meet. The claims, the consent page, the code to scan and the
// fakes are looked at on the way of TestWayInEndsAtTheClaims.
func TestPageIsFitForEverybody(t *testing.T) {
	t.Parallel()
	each(t, []reader{english, chinese}, func(v *walkthrough) {
		v.entrance()
		v.quiet("400", "401")
		v.members()
		v.quiet("400", "401", "410")
		v.scan()
		v.account()
		v.quiet("400", "401", "410", "404")
		v.strangers()
		v.brands()
		v.locked()
		v.quiet("400", "401", "410", "404", "429")
	})
}

// entrance looks at where people come in, and where they are turned away.
func (v *walkthrough) entrance() {
	v.t.Helper()
	v.at("/")
	v.look("landing")
	v.at("/demo")
	v.look("demo")
	v.at("/oauth/signin")
	v.says("Sign in")
	v.look("signin-alone")
	v.begin()
	v.look("signin")
	v.Type("#username", "mina")
	v.Type("#password", "not her password")
	v.Follow("form [type=submit]")
	v.says("Sign in to %s", appName)
	v.look("wrong")

	v.Follow(`a[href^="/oauth/signin/with/alipay"]`)
	v.Follow(`button[value="nobody"]`)
	v.says("Sign in to %s", appName)
	v.look("denied")
	v.Follow(`a[href^="/oauth/signin/with/wx"]`)
	asked, _, _ := strings.Cut(v.URL(), "?")
	v.Open(asked)
	v.look("provider-bad")
	v.at("/oauth/signin/with/wx/return?state=x&code=y")
	v.look("stale")
	v.at("/oauth/authorize?client_id=" + firstRunOf(v.t, v.s.data).App.ClientID +
		"&response_type=code&redirect_uri=https://elsewhere.example")
	v.says("This request cannot go on")
	v.look("refused")
}

// scan looks at both sides of a sign-in by code. The phone is the same visitor's.
func (v *walkthrough) scan() {
	v.t.Helper()
	v.begin()
	v.showCode()
	v.says("Sign in to %s with your phone", appName)
	v.look("qr")
	id := v.Attribute("#collect [name=id]", "value")
	phone := *v
	phone.with(v.device)
	phone.at("/oauth/signin/scan/" + id)
	phone.look("scan-signin")
	phone.password()
	phone.says("Sign in on another device?")
	phone.look("scan")
	phone.Follow("button[value=reject]")
	phone.says("You have rejected it")
	phone.look("scan-no")
	v.Shown("#again")
	v.look("qr-rejected")

	v.Follow("#again")
	phone.at("/oauth/signin/scan/" + v.Attribute("#collect [name=id]", "value"))
	phone.Follow("button[value=confirm]")
	phone.says("You have confirmed")
	phone.look("scan-yes")
	phone.quiet()
	v.Arrive()
	v.at("/oauth/signin/scan/AAAAAAAAAAAAAAAAAAAAAAAAAA")
	v.says("This request cannot go on")
	v.look("scan-over")
	v.Forget()
}

// account looks at the pages of a signed-in user.
func (v *walkthrough) account() {
	v.t.Helper()
	v.begin()
	v.password()
	v.says("Allow %s?", appName)
	v.look("consent")
	v.Follow("button[name=deny]")
	v.look("demo-no")
	v.begin()
	v.Follow("button[name=allow]")
	v.look("claims")
	v.at("/oauth/signin")
	v.says("You are signed in")
	v.look("who")
	v.at("/oauth/account")
	v.Follow(`form[action="/oauth/signin/with/douyin/link"] button`)
	v.Follow(`button[value="robert"]`)
	v.says("Your account")
	v.look("account")
	v.ownData()
	v.Follow(`.helps a[href="/oauth/account/keys"]`)
	v.says("API keys")
	v.look("keys")
	v.Type("#name", "nightly build")
	v.Follow(`form[action="/oauth/account/keys"] button`)
	v.says("Your new API key")
	v.look("key-made")
	v.at("/oauth/account/keys")
	v.says("API keys")
	v.look("keys-one")
	v.Follow(`form[action="/oauth/account/keys/end"] button`)
	v.says("API keys")
	v.at("/oauth/account")
	v.Follow(`.ways a[href="/oauth/signin/address"]`)
	v.says("Confirm an email address")
	v.at("/oauth/account/confirm")
	v.look("confirm")
	v.at("/oauth/logout")
	v.says("Sign out?")
	v.look("logout")
	v.Follow("form [type=submit]")
	v.says("You are signed out")
	v.look("signed-out")
}

// ownData looks at the pages of what is held about a user, from the account page and back to it.
func (v *walkthrough) ownData() {
	v.t.Helper()
	if utc := v.Attribute("#sessions + ul time", "title"); !strings.HasSuffix(utc, "UTC") {
		v.t.Errorf("the time of a session is not shown in the browser's own: it was %q", utc)
	}
	v.Follow(`a[href="/oauth/account/profile"]`)
	v.says("Your profile")
	v.look("profile")
	v.Type("#nickname", "Bluebell")
	v.Follow("form button")
	v.says("Your profile")
	v.look("profile-saved")
	v.Type("#picture", "https://user@example.com/")
	v.Follow("form button")
	v.look("profile-wrong")
	v.at("/oauth/account")
	v.Follow(`a[href="/oauth/account/data"]`)
	v.says("Download your data")
	v.look("data")
	v.at("/oauth/account")
	v.Follow(`a[href="/oauth/account/delete"]`)
	v.says("Delete your account")
	v.look("delete")
	v.Type("#confirm", "somebody else")
	v.Follow("form button")
	v.says("Delete your account")
	v.look("delete-wrong")
	v.at("/oauth/account")
}

// brands looks at an application's own colours, which have to be readable whatever they are, and at
// the sign-up of an invited user.
func (v *walkthrough) brands() {
	v.t.Helper()
	for name, color := range map[string]string{"pale": "#ffe680", "deep": "#0b1d3a"} {
		must(v.t, "app", "set", firstRunOf(v.t, v.s.data).App.ClientID, "--data", v.s.data, "--tier", "white_label",
			"--brand-color", color)
		v.begin()
		v.look("brand-" + name)
	}
	invited := *v
	invited.s = start(v.t, v.t.TempDir(), "--signup", "invitation")
	invited.at("/oauth/signin/signup")
	invited.look("invited")
}

// locked looks at what an address sees from which there were too many failures.
func (v *walkthrough) locked() {
	v.t.Helper()
	for range 10 {
		post(v.t, v.s, "/oauth/signin", url.Values{"username": {"mina"}, "password": {"wrong"}})
	}
	v.begin()
	v.password()
	v.says("Too many attempts")
	v.look("locked")
}
