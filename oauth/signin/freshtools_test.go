package signin

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/oauth/signin/internal/consent"
	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
)

// roamer is an application that has registered itself.
var roamer = storage.App{ID: roamingID, Name: "Roamer", Public: true, Client: &client.Description{
	Kind: client.Dynamic, RedirectURIs: []string{localURI}, AuthMethod: client.AuthNone,
}}

var toolScopes = []string{scope.Tools, scope.ReadOnlyTools, scope.Member("pets"), scope.Bundle("support"),
	scope.Tool("pets", "getPet")}

// allows sends the form that allows an application a scope.
func (w *attacked) allows(b *browser, app storage.App, wanted string) answer {
	redirect := localURI
	if app.Client == nil {
		redirect = callback
	}
	query := url.Values{"client_id": {app.ID}, "redirect_uri": {redirect}, "scope": {wanted}}.Encode()
	return b.form(consent.Path, "query", query, "user", w.mina.Sub, "scope", wanted, "allow", "1", "terms", app.Terms())
}

func (w *attacked) has(app storage.App, wanted string) bool {
	w.t.Helper()
	_, ok, err := w.Allowed(w.t.Context(), app, w.mina.Sub, wanted)
	must(w.t, err)
	return ok
}

func (w *attacked) saved(app storage.App) storage.App {
	w.t.Helper()
	_, err := w.store.SaveApp(w.t.Context(), app)
	must(w.t, err)
	app, err = w.store.Store.App(w.t.Context(), app.ID)
	must(w.t, err)
	return app
}

// A grant of tools is the equal of an API key, so a password and a browser that its user trusts do not give it, and
// neither does a session that was left open. An application learns the user's identity all the same.
func TestNewToolsTakeAFreshSignIn(t *testing.T) {
	for name, enter := range map[string]func(t *testing.T) *attacked{
		"a trusted browser": newTrusted,
		"a session that was left open": func(t *testing.T) *attacked {
			w := newAttacked(t)
			w.both(w.b)
			time.Sleep(stepup.MaxAge + time.Second)
			return w
		},
		"one with one factor that was left open": func(t *testing.T) *attacked {
			w := newAttacked(t)
			w.change(func(f *storage.Factors) { f.Authenticator, f.AppSecret, f.Recovery = nil, storage.Secret{}, nil })
			w.b.first()
			time.Sleep(stepup.MaxAge + time.Second)
			return w
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := enter(t)
				known, err := w.store.Store.App(t.Context(), "ksacme")
				must(t, err)
				for _, app := range []storage.App{w.saved(roamer), known} {
					for _, wanted := range toolScopes {
						a := w.allows(w.b, app, "openid "+wanted)
						if to := a.Header().Get("Location"); to != factor.Path && !strings.Contains(a.body, "Confirm that it is you") ||
							w.has(app, wanted) || w.has(app, "openid") {
							t.Errorf("%s is allowed %s: %d to %q", app.Name, wanted, a.Code, to)
						}
					}
					if a := w.allows(w.b, app, "openid profile email"); a.Code != 303 || !w.has(app, "openid profile email") {
						t.Errorf("%s is not allowed to know who it is: %d to %q", app.Name, a.Code, a.Header().Get("Location"))
					}
				}
				must(t, w.Close(t.Context()))
			})
		})
	}
}

// An earlier consent goes on without a proof, and a wider one requires one.
func TestToolsThatWereAllowedTakeNoProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newAttacked(t)
		app := w.saved(roamer)
		w.both(w.b)
		w.allows(w.b, app, "openid "+scope.Member("pets"))
		time.Sleep(stepup.MaxAge + time.Second)
		for wanted, free := range map[string]bool{scope.Member("pets"): true, scope.Tool("pets", "getPet"): true,
			scope.Member("zoo"): false, scope.Tools: false} {
			if a := w.allows(w.b, app, wanted); (a.Code == 303) != free {
				t.Errorf("%s = %d to %q", wanted, a.Code, a.Header().Get("Location"))
			}
		}
		app, err := w.store.Store.App(t.Context(), app.ID) // as it is kept since
		must(t, err)
		app.Client.RedirectURIs = append(app.Client.RedirectURIs, "http://127.0.0.1/other")
		if app = w.saved(app); w.has(app, scope.Member("pets")) {
			t.Fatal("its terms are the old ones")
		}
		if a := w.allows(w.b, app, scope.Member("pets")); a.Code != 200 {
			t.Errorf("on other terms it is %d to %q", a.Code, a.Header().Get("Location"))
		}
		must(t, w.Close(t.Context()))
	})
}

// The consent goes on after the proof, once its user has read what it is and to whom.
func TestAllowedToolsGoOnAfterTheProof(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTrusted(t)
		app := w.saved(roamer)
		if a := w.allows(w.b, app, "openid "+scope.Member("pets")); a.Header().Get("Location") != factor.Path {
			t.Fatalf("the form = %d to %q", a.Code, a.Header().Get("Location"))
		}
		says := func(body string) {
			t.Helper()
			for _, want := range []string{"Allow an application", "<dd>Roamer</dd>", "Use the tools of pets on your behalf"} {
				if !strings.Contains(body, want) {
					t.Errorf("the page lacks %q: %s", want, body)
				}
			}
		}
		says(w.b.do(get(factor.Path)).body)
		time.Sleep(time.Minute)
		to := w.b.form(factor.Path, "code", w.shows(0)).Header().Get("Location")
		page := w.b.do(get(to))
		says(page.body)
		if policy := page.policy(); strings.Contains(policy, "form-action") &&
			!strings.Contains(policy, " http://127.0.0.1:43917") {
			t.Errorf("the policy stops the redirect: %s", page.policy())
		}
		if a := w.b.goesOn(t, to); !strings.HasPrefix(a.Header().Get("Location"), web.AuthorizePath+"?") ||
			!w.has(app, scope.Member("pets")) {
			t.Errorf("it goes on = %d to %q", a.Code, a.Header().Get("Location"))
		}
		must(t, w.Close(t.Context()))
	})
}

// A trusted browser spares the second factor for tools that were allowed before, and asks for it at once for others.
func TestTrustedBrowserIsAskedForNewTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newAttacked(t)
		app := w.saved(roamer)
		hers := newBrowser(w.fixture)
		w.both(hers)
		w.allows(hers, app, scope.Member("pets"))
		time.Sleep(time.Minute)
		w.trusts(w.b)
		for wanted, asked := range map[string]bool{"openid email": false, scope.Member("pets"): false, scope.Tools: true,
			scope.Member("zoo"): true} {
			query := url.Values{"client_id": {app.ID}, "redirect_uri": {localURI}, "scope": {wanted}}.Encode()
			if to := w.b.first("query", query).Header().Get("Location"); (to == factor.Path) != asked {
				t.Errorf("%s leads to %q", wanted, to)
			}
			delete(w.b.jar, "open_sso_token")
		}
		must(t, w.Close(t.Context()))
	})
}

// A device is given tools by a fresh sign-in alone.
func TestDeviceGetsNewToolsByAFreshSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTrusted(t)
		app := w.saved(roamer)
		begun := httptest.NewRequest("POST", origin+"/oauth/device_authorization", nil)
		connects := func(wanted string) (a answer, got func() bool) {
			code, ticket, err := w.BeginDevice(begun, app, wanted, "")
			must(t, err)
			a = w.b.form(web.DevicePath, "user_code", ticket.Subject, "ticket", ticket.ID, "user", w.mina.Sub, "terms",
				app.Terms(), "allow", "1")
			return a, func() bool {
				time.Sleep(time.Minute)
				_, err := w.PollDevice(begun, app, code)
				return err == nil
			}
		}
		if a, got := connects("openid"); a.Code != 200 || !got() {
			t.Errorf("who it is = %d %s", a.Code, a.body)
		}
		a, got := connects("openid " + scope.Tools)
		if a.Header().Get("Location") != factor.Path || got() || w.has(app, scope.Tools) {
			t.Fatalf("tools = %d to %q", a.Code, a.Header().Get("Location"))
		}
		if page := w.b.do(get(factor.Path)); !strings.Contains(page.body, "Allow a device") ||
			!strings.Contains(page.body, "<dd>Roamer</dd>") {
			t.Errorf("the page lacks what is allowed: %s", page.body)
		}
		a = w.b.form(factor.Path, "code", w.shows(0))
		if a := w.b.goesOn(t, a.Header().Get("Location")); a.Code != 200 ||
			!strings.Contains(a.body, "Your device is connected") || !got() {
			t.Errorf("it goes on = %d %s", a.Code, a.body)
		}
		time.Sleep(stepup.MaxAge)
		if a, got := connects("openid " + scope.Tools); a.Code != 200 || !got() {
			t.Errorf("once more = %d %s", a.Code, a.body)
		}
		must(t, w.Close(t.Context()))
	})
}
