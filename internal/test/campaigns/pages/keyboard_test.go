package pages

import (
	"strings"
	"testing"
)

// Everything can be reached and done with the keys Tab and Enter, in the order in which it
// stands on the page, and what has the focus can be seen.
func TestKeyboardIsEnough(t *testing.T) {
	t.Parallel()
	v := alone(t)
	who := firstRunOf(t, v.s.data).Admin
	v.begin()
	order := []string{"Username"} // it has the focus when the page is there
	for range 14 {
		v.Press("Tab")
		f := v.Focus()
		if order = append(order, f.Name); !f.Seen {
			t.Errorf("the focus on %q cannot be seen", f.Name)
		}
	}
	want := "Username, Password, Show password, Sign in, Forgotten your password?, Create an account, Scan with your " +
		"phone, Sign in with email, " +
		"Sign in with WeChat, Sign in with Alipay, Sign in with QQ, Sign in with Douyin, Sign in with WeCom, Sign in with " +
		"DingTalk, Sign in with Feishu"
	if got := strings.Join(order, ", "); got != want {
		t.Errorf("the keys go through %s\nwant %s", got, want)
	}
	v.begin()
	v.Write(who.Username)
	v.to("Password")
	v.Write(who.Password)
	v.to("Sign in")
	v.Press("Enter")
	v.Arrive()
	v.says("Allow %s?", appName)
	v.to("Allow")
	v.Press("Enter")
	v.Arrive()
	v.arrive()
	v.Forget()
	v.begin()
	v.to("Sign in with WeChat")
	v.Press("Enter")
	v.Arrive()
	v.to("Omar")
	v.Press("Enter")
	v.Arrive()
	v.to("Do not allow")
	v.Press("Enter")
	v.Arrive()
	if !strings.HasPrefix(v.URL(), v.s.base+"/demo/callback?error=access_denied") {
		t.Errorf("the keys lead to %s", v.URL())
	}
	v.quiet("400")
}

// to presses Tab until something that begins so has the focus, and can be seen to have it.
func (v *walkthrough) to(name string) {
	v.t.Helper()
	for range 30 {
		if f := v.Focus(); strings.HasPrefix(f.Name, name) {
			if !f.Seen {
				v.t.Errorf("the focus on %q cannot be seen", f.Name)
			}
			return
		}
		v.Press("Tab")
	}
	v.t.Fatalf("Tab never gets to %q at %s", name, v.URL())
}
