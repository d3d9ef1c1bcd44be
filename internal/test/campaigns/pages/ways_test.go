package pages

import (
	"cmp"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/campaigns/browser"
)

// waysIn is every way to sign in, with the login_type that applications are told.
var waysIn = []struct {
	name, loginType string
	by              func(v *walkthrough)
	person          string // who it is; "": who comes by the login type
}{
	{"self", "self", func(v *walkthrough) { v.password() }, ""},
	{"email", "email", func(v *walkthrough) {
		v.Follow(`a[href^="/oauth/signin/email"]`)
		v.Type("#address", "mina@example.org")
		v.Follow("form [type=submit]")
		v.Type("#code", v.mailed("mina@example.org"))
		v.Follow("form [type=submit]")
	}, ""},
	{"wx", "wx", func(v *walkthrough) { v.provider("wx", "lin") }, ""},
	{"qq", "qq", func(v *walkthrough) { v.provider("qq", "omar") }, ""},
	{"alipay", "alipay", func(v *walkthrough) { v.provider("alipay", "mei") }, ""},
	{"douyin", "douyin", func(v *walkthrough) { v.provider("douyin", "robert") }, ""},
	{"feishu", "self", func(v *walkthrough) { v.provider("feishu", "lin") }, "feishu"},
	{"wecom", "self", func(v *walkthrough) { v.provider("wecom", "omar") }, "wecom"},
	{"dingtalk", "self", func(v *walkthrough) { v.provider("dingtalk", "mei") }, "dingtalk"},
	{"oidc", "self", func(v *walkthrough) { v.provider("oidc", "omar") }, "oidc"},
	{"github", "self", func(v *walkthrough) { v.provider("github", "mei") }, "github"},
	{"qr, by a phone that is signed in by password", "self", func(v *walkthrough) { v.scanned((*walkthrough).password) },
		""},
	{"qr, by a phone that is signed in by wx", "wx", func(v *walkthrough) {
		v.scanned(func(phone *walkthrough) { phone.provider("wx", "lin") })
	}, ""},
}

func TestWayInEndsAtTheClaims(t *testing.T) {
	t.Parallel()
	each(t, []reader{english, byTheirApp}, func(v *walkthrough) {
		subs := map[string]string{}
		for _, way := range waysIn {
			v.Forget()
			v.begin()
			v.says("Sign in to %s", appName)
			v.look("signin")
			way.by(v)
			claims := v.arrive()
			sub, _ := claims["sub"].(string)
			if claims["login_type"] != way.loginType {
				v.t.Errorf("%s: login_type %v, want %s", way.name, claims["login_type"], way.loginType)
			}
			person := cmp.Or(way.person, way.loginType)
			if before := subs[person]; before != "" && before != sub {
				v.t.Errorf("%s: sub %s, was %s before", way.name, sub, before)
			}
			subs[person] = sub
			v.quiet()
		}
		if len(subs) != 11 {
			v.t.Errorf("%d people have signed in: %v", len(subs), subs)
		}
	})
}

// scanned shows a code, and lets somebody with a phone that is not signed in yet sign in
// there and confirm.
func (v *walkthrough) scanned(signIn func(phone *walkthrough)) {
	v.t.Helper()
	v.showCode()
	v.look("qr")
	phone := *v
	phone.reads = reader{lang: v.reads.lang, header: string(v.reads.lang)}
	phone.with(browser.Phone)
	phone.at("/oauth/signin/scan/" + v.Attribute("#collect [name=id]", "value"))
	phone.says("Sign in")
	signIn(&phone)
	phone.says("Sign in on another device?")
	phone.Follow("button[value=confirm]")
	phone.says("You have confirmed")
	phone.quiet()
	v.Arrive()
}

// Linking a provider to an account is the same walkthrough by both ways in.
func TestUserByTwoProvidersHasOneSub(t *testing.T) {
	t.Parallel()
	v := alone(t)
	v.begin()
	v.password()
	mine := v.arrive()["sub"]

	v.at("/oauth/account")
	v.Follow(`form[action="/oauth/signin/with/wx/link"] button`)
	v.Follow(`button[value="lin"]`)
	v.says("Your account")
	if got := v.Text("section[aria-labelledby=logins] .rows"); !strings.Contains(got, "WeChat") {
		t.Errorf("after linking WeChat the ways in are %s", got)
	}

	v.Forget()
	v.begin()
	v.provider("wx", "lin")
	if claims := v.arrive(); claims["sub"] != mine || claims["login_type"] != "wx" {
		t.Errorf("by WeChat sub %v, login_type %v; by password the sub was %v", claims["sub"], claims["login_type"], mine)
	}
	v.Forget()
	v.begin()
	v.provider("qq", "lin") // not linked: somebody else
	if claims := v.arrive(); claims["sub"] == mine {
		t.Errorf("by QQ, which is not linked, the sub is %v too", mine)
	}
	v.quiet()
}
