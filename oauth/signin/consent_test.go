package signin

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/internal/consent"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

// askConsent returns the consent page for Mina and Acme.
func (rm *fixture) askConsent(query, scope string) answer {
	rm.t.Helper()
	app, err := rm.store.App(context.Background(), "ksacme")
	must(rm.t, err)
	w := httptest.NewRecorder()
	must(rm.t, rm.AskConsent(w, get("/oauth/authorize?"+query), app, storage.Session{UserID: rm.mina.Sub}, scope))
	return answer{w, w.Body.String()}
}

// sends returns the request of a form at a path.
func sends(path string, pairs ...string) *http.Request {
	r := post(pairs...)
	r.URL.Path = path
	return r
}

func (rm *fixture) consents(cookie string, pairs ...string) answer {
	return rm.do(sends(consent.Path,
		append([]string{"cookie", cookie, "query", authorizeQuery, "user", rm.mina.Sub, "scope", "openid profile"},
			pairs...)...))
}

func (rm *fixture) allowed(scope string) bool {
	rm.t.Helper()
	_, ok, err := rm.Allowed(context.Background(), storage.App{ID: "ksacme"}, rm.mina.Sub, scope)
	must(rm.t, err)
	return ok
}

func TestConsentPageShowsTheUserThePermissionsAndTheHost(t *testing.T) {
	rm := newFixture(t, nil)
	a := rm.askConsent(authorizeQuery, "openid email")
	for _, want := range []string{
		"<h1>Allow Acme?</h1>", "The application at app.example.com wants to:", "Mina Okafor", "Not you? Use another account",
		"Know that it is you", "See your email address", "you will be sent back to app.example.com", `name="allow"`, `name="deny"`,
	} {
		if !strings.Contains(a.body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(a.body, "gender") || a.Code != 200 || a.carried() != authorizeQuery {
		t.Errorf("%d carrying %q: %s", a.Code, a.carried(), a.body)
	}
	for header, want := range map[string]string{"X-Frame-Options": "DENY", "Cache-Control": "no-store"} {
		if got := a.Header().Get(header); got != want {
			t.Errorf("%s = %q, want %q", header, got, want)
		}
	}
	if p := a.policy(); !strings.Contains(p, "frame-ancestors 'none'") || !a.leaves() {
		t.Errorf("policy = %q", p)
	}
	if zh := rm.askConsent(authorizeQuery+"&ui_locales=zh-CN", "openid email"); !strings.Contains(zh.body,
		"允许 Acme 访问吗？") || strings.Contains(zh.body, "See your") {
		t.Error("in Chinese it speaks English")
	}
}

func TestNamesAreEscapedOnTheConsentPage(t *testing.T) {
	rm := newFixture(t, nil)
	evil := `"><script>alert(1)</script>`
	mina, err := rm.store.User(t.Context(), rm.mina.Sub)
	must(t, err)
	mina.Nickname = evil
	_, err = rm.store.SaveUser(t.Context(), mina)
	must(t, err)
	w := httptest.NewRecorder()
	app := storage.App{ID: "ksevil", Name: evil, Domains: []string{"app.example.com"}, Tier: storage.TierWhiteLabel,
		Brand: &storage.Brand{Name: evil, Color: evil}}
	must(t, rm.AskConsent(w, get("/oauth/authorize?"+authorizeQuery+"&state="+`"><script>`), app, storage.Session{UserID: mina.Sub}, "openid "+evil))
	if strings.Contains(w.Body.String(), "<script") || strings.Contains(w.Body.String(), "alert(1)</script>") {
		t.Errorf("the page holds markup: %s", w.Body)
	}
}

func TestConsentIsRememberedAndRedirectsBack(t *testing.T) {
	rm := newFixture(t, nil)
	cookie := rm.enterMina()
	if rm.allowed("openid") || rm.allowed("") {
		t.Fatal("something is allowed before anybody was asked")
	}
	a := rm.consents(cookie, "allow", "1")
	if a.Code != 303 || a.Header().Get("Location") != "/oauth/authorize?"+authorizeQuery {
		t.Errorf("allow = %d to %q", a.Code, a.Header().Get("Location"))
	}
	for scope, want := range map[string]bool{"": true, "openid": true, "profile openid": true, "openid email": false} {
		if got := rm.allowed(scope); got != want {
			t.Errorf("Allowed(%q) = %v, want %v", scope, got, want)
		}
	}
	rm.do(sends(consent.Path, "cookie", cookie, "query", authorizeQuery, "user", rm.mina.Sub, "scope", "email", "allow",
		"1"))
	if !rm.allowed("openid profile email") {
		t.Error("a second yes has taken the first back")
	}
}

func TestConsentNeverAllowsWhatItCannotDescribe(t *testing.T) {
	rm := newFixture(t, nil)
	cookie := rm.enterMina()
	rm.do(sends(consent.Path, "cookie", cookie, "query", authorizeQuery, "user", rm.mina.Sub, "scope", "openid app admin",
		"allow", "1"))
	if !rm.allowed("openid") || rm.allowed("app") || rm.allowed("admin") {
		t.Error("a scope that nobody saw is allowed")
	}
}

func TestAnswerSettlesWhatWasAskedAndNothingElse(t *testing.T) {
	for query, want := range map[string][2]string{ // after a yes, after a no
		"a=1&prompt=consent&b": {"a=1&b", "a=1&prompt=consent&b&keystile_consent=denied"},
		"prompt=login+consent&max_age=0": {"prompt=login&max_age=0",
			"prompt=login+consent&max_age=0&keystile_consent=denied"},
		"%70rompt=consen%74":             {"", "%70rompt=consen%74&keystile_consent=denied"},
		"keystile%5Fconsent=x&state=%zz": {"keystile%5Fconsent=x&state=%zz", "state=%zz&keystile_consent=denied"},
		"state=keystile_consent&legacy=ticket": {"state=keystile_consent&legacy=ticket",
			"state=keystile_consent&legacy=ticket&keystile_consent=denied"},
	} {
		if got := web.Allowed(query); got != "/oauth/authorize?"+want[0] {
			t.Errorf("allowed(%q) = %q, want %q", query, got, want[0])
		}
		if got := web.Refused(query); got != "/oauth/authorize?"+want[1] {
			t.Errorf("refused(%q) = %q, want %q", query, got, want[1])
		}
	}
}

func TestDenialAllowsNothing(t *testing.T) {
	rm := newFixture(t, nil)
	for promise, cookie := range map[string]string{"of who is signed in": rm.enterMina(), "of nobody": ""} {
		a := rm.consents(cookie, "deny", "1")
		if a.Code != 303 || a.Header().Get("Location") != "/oauth/authorize?"+authorizeQuery+"&keystile_consent=denied" ||
			rm.allowed("openid") {
			t.Errorf("%s: %d to %q", promise, a.Code, a.Header().Get("Location"))
		}
	}
}

func TestConsentForAnotherAccountSignsThisOneOut(t *testing.T) {
	rm := newFixture(t, nil)
	cookie := rm.enterMina()
	a := rm.consents(cookie, "other", "1")
	if a.Code != 303 || a.Header().Get("Location") != "/oauth/authorize?"+authorizeQuery ||
		!errors.Is(rm.visits(cookie), storage.ErrNotFound) || rm.allowed("openid") {
		t.Errorf("other = %d to %q, Visitor %v", a.Code, a.Header().Get("Location"), rm.visits(cookie))
	}
}

func TestConsentCountsOnlyForTheUserWhoWasAsked(t *testing.T) {
	rm := newFixture(t, nil)
	ada, err := users.New(rm.store, cheap(rm.hashes)).Create(t.Context(), storage.User{Username: "ada"}, password)
	must(t, err)
	in := rm.do(post("username", "ada", "password", password)).cookie() // in another tab
	for promise, cookie := range map[string]string{"signed in as somebody else": in, "signed out": "",
		"with a cookie nobody issued": handle.NewCookie()} {
		a := rm.consents(cookie, "allow", "1")
		if a.Code != 303 || a.Header().Get("Location") != "/oauth/authorize?"+authorizeQuery {
			t.Errorf("%s: %d to %q, want to be asked again", promise, a.Code, a.Header().Get("Location"))
		}
		for _, sub := range []string{rm.mina.Sub, ada.Sub} {
			if _, ok, err := rm.Allowed(t.Context(), storage.App{ID: "ksacme"}, sub, ""); ok || err != nil {
				t.Errorf("%s: Allowed = %v, %v", promise, ok, err)
			}
		}
	}
}

func TestAnswerThatIsNoneIsRefused(t *testing.T) {
	rm := newFixture(t, nil)
	cookie := rm.enterMina()
	cross := sends(consent.Path, "cookie", cookie, "query", authorizeQuery, "user", rm.mina.Sub, "scope", "openid",
		"allow", "1")
	cross.Header.Set("Sec-Fetch-Site", "cross-site")
	get := get(consent.Path+"?allow=1&query=x", cookie)
	for promise, c := range map[string]struct {
		r    *http.Request
		want int
	}{
		"from another site": {cross, 403},
		"by GET":            {get, 405},
		"yes and no": {sends(consent.Path, "cookie", cookie, "query", authorizeQuery, "user", rm.mina.Sub,
			"allow", "1", "deny", "1"), 400},
		"neither": {sends(consent.Path, "cookie", cookie, "query", authorizeQuery, "user", rm.mina.Sub), 400},
		"twice": {sends(consent.Path, "cookie", cookie, "query", authorizeQuery, "user", rm.mina.Sub,
			"allow", "1", "user", "u"), 400},
		"no request": {sends(consent.Path, "cookie", cookie, "user", rm.mina.Sub, "scope", "openid", "allow",
			"1"), 400},
		"a request to elsewhere": {sends(consent.Path, "cookie", cookie, "query",
			"client_id=ksacme&redirect_uri=https://evil.example/", "user", rm.mina.Sub, "allow", "1"), 400},
		"the account page's": {sends(consent.Path, "cookie", cookie, "query", web.AccountPath, "user", rm.mina.Sub,
			"allow", "1"), 400},
	} {
		if a := rm.do(c.r); a.Code != c.want || rm.allowed("") {
			t.Errorf("%s: %d, want %d", promise, a.Code, c.want)
		}
	}
}

func TestConsentInTwoTabsAtOnceCountsTwice(t *testing.T) {
	rm := newFixture(t, nil)
	cookie := rm.enterMina()
	var both sync.WaitGroup
	for _, scope := range []string{"openid", "profile", "email"} {
		both.Go(func() {
			w := httptest.NewRecorder()
			rm.ServeHTTP(w, sends(consent.Path, "cookie", cookie, "query", authorizeQuery, "user", rm.mina.Sub, "scope", scope,
				"allow", "1"))
		})
	}
	both.Wait()
	if !rm.allowed("openid profile email") {
		t.Error("a consent was lost")
	}
}
