package pages

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/browser"
	"github.com/keystile/keystile/internal/test/filled"
)

// waysOn lead to the page that ends in a redirect to the application, and return what has to be clicked there; "" if
// the page goes on by itself.
var waysOn = []struct {
	name string
	lead func(j *journey) (click string)
}{
	{"a no", func(j *journey) string {
		j.asks("asks")
		j.signsIn("ada")
		return "button[name=deny]"
	}},
	{"consent", func(j *journey) string {
		j.asks("asks")
		j.signsIn("ada")
		return "button[name=allow]"
	}},
	{"the consent for an agent", func(j *journey) string {
		j.at(filled.AuthorizePath(j.agent(), j.o.URL+"/cb", "openid"))
		j.signsIn("ada")
		return "button[name=allow]"
	}},
	{"a password", func(j *journey) string {
		j.asks("own")
		return j.named("ada")
	}},
	{"signing up", func(j *journey) string {
		j.asks("own")
		j.Follow(`a[href^="/oauth/signin/signup"]`)
		j.named("grace")
		return "main form button[type=submit]"
	}},
	{"a code by email", func(j *journey) string {
		j.asks("own")
		j.Follow(`a[href^="/oauth/signin/email"]`)
		j.Type("#address", "mina@example.org")
		j.Follow("form [type=submit]")
		j.Type("#code", j.mailed("mina@example.org"))
		return "form [type=submit]"
	}},
	{"a new password", func(j *journey) string {
		j.asks("own")
		j.Follow(`a[href^="/oauth/signin/reset"]`)
		j.Type("#address", "ada@example.org")
		j.Follow("form [type=submit]")
		j.Type("#code", j.mailed("ada@example.org"))
		j.Type("#password", browserPassword)
		j.mails++ // that it has changed
		return "form [type=submit]"
	}},
	{"a second factor", func(j *journey) string {
		j.asks("own")
		j.signsIn("tess")
		j.Type("#code", appShows(j.t, j.key, 1))
		return "form button[type=submit]"
	}},
	{"a phone that confirms", func(j *journey) string {
		j.asks("own")
		j.Follow(`a[href^="/oauth/signin/qr"]`)
		phone := *j
		phone.tab = j.another(j.t)
		phone.at("/oauth/signin/scan/" + j.Attribute("#collect [name=id]", "value"))
		phone.signsIn("ada")
		phone.Follow("button[value=confirm]")
		return ""
	}},
	{"a provider", func(j *journey) string {
		j.asks("own")
		j.Follow(`a[href^="/oauth/signin/with/wx"]`)
		return `button[value="lin"]`
	}},
	{"signing out", func(j *journey) string {
		j.at("/oauth/signin")
		j.signsIn("ada")
		j.at("/oauth/logout?client_id=" + j.id("own") + "&post_logout_redirect_uri=" + j.o.URL + "/cb")
		return "main form button"
	}},
	{"a password, begun at connect.php", func(j *journey) string {
		form := url.Values{
			"act": {"login"}, "type": {"self"}, "appid": {j.id("own")}, "appkey": {j.apps["own"]["client_secret"].(string)},
			"redirect_uri": {j.o.URL + "/cb"}, "state": {"s"},
		}
		var began struct{ URL string }
		_, body := get(j.t, http.DefaultClient, j.s.base+"/connect.php?"+form.Encode())
		if err := json.Unmarshal([]byte(body), &began); err != nil {
			j.t.Fatal(err, body)
		}
		j.Open(began.URL)
		return j.named("ada")
	}},
}

// A browser goes wherever the application leads on to, from each page that ends in a redirect: to another site, or to a
// program on the device. A change is tried in Chromium, and with everyReader in Firefox too.
func TestApplicationMayLeadOnToAnotherSite(t *testing.T) {
	t.Parallel()
	for name, launch := range browsers {
		if name == "Firefox" && os.Getenv(everyReader) == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			another := launch(t)
			for _, program := range []bool{false, true} {
				j := sets(t, another)
				where := "to another site"
				if program {
					where, j.o.to = "to a program", "com.example.agent:/done"
				}
				for _, way := range waysOn {
					t.Run(where+" by "+way.name, func(t *testing.T) {
						j.t, j.tab = t, another(t)
						j.goes(way.lead(j), program)
					})
				}
				if program {
					continue
				}
				t.Run("to no application", func(t *testing.T) {
					j.t, j.tab = t, another(t)
					j.staysHere()
				})
			}
		})
	}
}

// A passkey, which Chromium alone can be given by a test, leads on as well.
func TestPasskeyLeadsOnToAnotherSite(t *testing.T) {
	t.Parallel()
	o, s := leadsOn(t), startNamed(t)
	domain := strings.TrimPrefix(o.URL, "http://")
	app := must(t, "app", "create", "--data", s.data, "--name", appName, "--domain", domain)["client_id"].(string)
	must(t, "app", "set", app, "--data", s.data, "--first-party=true")
	must(t, "user", "create", "--data", s.data, "--username", "ada", "--password", browserPassword)
	v := &walkthrough{t: t, b: browser.Launch(t), s: s, reads: english, looked: &looked{at: map[string]bool{}}}
	v.with(browser.Desktop)
	v.KeepPasskeys()
	v.signsIn("ada")
	v.at("/oauth/account/passkeys")
	v.Shown("#passkey")
	v.Type("#name", "my laptop")
	v.Follow("#passkey button")
	v.Forget()
	v.asks(app, o.URL+"/cb", "openid")
	if v.Arrive(); v.URL() != o.to {
		t.Errorf("the way ends at %s: %v", v.URL(), v.Faults())
	}
	v.quiet()
}

// goes follows the last click of a way to where the application leads on to.
func (j *journey) goes(click string, program bool) {
	j.t.Helper()
	switch {
	case !program && click == "":
		j.Arrive()
	case !program:
		j.Follow(click)
	case click != "":
		j.Click(click)
	}
	select {
	case <-j.o.called:
	case <-time.After(20 * time.Second):
		j.t.Fatalf("nobody comes to the application; at %s: %v", j.URL(), j.Faults())
	}
	if !program && j.URL() != j.o.to {
		j.t.Errorf("the way ends at %s", j.URL())
	}
	for _, fault := range j.Faults() {
		j.t.Errorf("the browser complains: %s", fault)
	}
}

// staysHere signs in for pages of the service, and links a provider, which leads there and back.
func (j *journey) staysHere() {
	j.t.Helper()
	j.at("/oauth/device")
	j.signsIn("ada")
	device := j.URL()
	j.at("/oauth/account")
	j.Follow(`form[action="/oauth/signin/with/qq/link"] button`)
	j.Follow(`button[value="omar"]`)
	for _, at := range []struct{ got, want string }{{device, "/oauth/device"}, {j.URL(), "/oauth/account"}} {
		if !strings.HasPrefix(at.got, j.s.base+at.want) {
			j.t.Errorf("the way ends at %s, want %s", at.got, at.want)
		}
	}
	for _, fault := range j.Faults() {
		j.t.Errorf("the browser complains: %s", fault)
	}
}
