package command

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/browser"
)

// onward is an application whose callback leads on at once, as that of a proxy for many sites does, or of an agent that
// is a program on the device.
type onward struct {
	*httptest.Server
	to     string      // where its callback leads
	called chan string // the queries that the callback was asked with
}

func leadsOn(t *testing.T) *onward {
	t.Helper()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte("<h1>Arrived</h1>"))
	}))
	o := &onward{to: strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1) + "/arrived", called: make(chan string, 10)}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/cb" {
			o.called <- r.URL.RawQuery
			http.Redirect(w, r, o.to, http.StatusFound)
		}
	}))
	t.Cleanup(func() { elsewhere.Close(); o.Close() })
	return o
}

// arrives follows a form to the site that the application leads on to.
func (v *walkthrough) arrives(o *onward, how, form string) {
	v.t.Helper()
	v.Follow(form)
	if v.URL() != o.to {
		v.t.Fatalf("%s ends at %s: %v", how, v.URL(), v.Faults())
	}
	select {
	case <-o.called:
	default:
		v.t.Errorf("%s passes the application by", how)
	}
}

// A browser goes wherever the application leads on to, from each page that ends in a redirect.
func TestAnApplicationMayLeadOnToAnotherSite(t *testing.T) {
	o, s := leadsOn(t), start(t, t.TempDir(), "--signup", "open", "--limits-per-ip", "100000")
	must(t, "user", "create", "--data", s.data, "--username", "ada", "--password", browserPassword)
	app := must(t, "app", "create", "--data", s.data, "--name", appName, "--domain", strings.TrimPrefix(o.URL, "http://"))["client_id"].(string)
	v := &walkthrough{t: t, b: browser.Launch(t), s: s, reads: english, looked: &looked{at: map[string]bool{}}}
	ask := func() { v.asks(app, o.URL+"/cb", "openid") }

	v.with(browser.Desktop)
	ask()
	v.Type("#username", "ada")
	v.Type("#password", browserPassword)
	v.Follow("form button[type=submit]")
	v.arrives(o, "a no", "button[name=deny]")
	ask()
	v.arrives(o, "consent", "button[name=allow]")

	v.at("/oauth/logout?client_id=" + app + "&post_logout_redirect_uri=" + o.URL + "/cb")
	v.arrives(o, "signing out", "main form button")
	ask()
	v.Type("#username", "ada")
	v.Type("#password", browserPassword)
	v.arrives(o, "a password", "form button[type=submit]")

	v.with(browser.Phone)
	ask()
	v.Follow(`a[href^="/oauth/signin/signup"]`)
	v.Type("#username", "grace")
	v.Type("#password", browserPassword)
	v.Follow("main form button[type=submit]")
	v.arrives(o, "signing up", "button[name=allow]")
	v.quiet()

	o.to = "com.example.agent:/done"
	v.with(browser.Desktop)
	ask()
	v.Type("#username", "ada")
	v.Type("#password", browserPassword)
	v.Click("form button[type=submit]")
	select {
	case <-o.called:
	case <-time.After(20 * time.Second):
		t.Error("nobody comes to an application that leads on to a program on the device")
	}
	v.quiet()
}
