package signin

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/logintype"
	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

func TestLinkedProviderKeepsTheUser(t *testing.T) {
	h := newProviderFixture(t, nil)
	mina := h.enterMina()
	link := func(name, session string) *providerVisit {
		t.Helper()
		r := post("cookie", session)
		r.URL.Path = web.WithPath + name + "/link"
		j := h.visit(name, h.do(r))
		j.session = session
		return j
	}
	for _, name := range providers {
		j := link(name, mina)
		if a := j.open(j.choose("mei")); a.Code != 303 || a.Header().Get("Location") != web.AccountPath {
			t.Fatalf("linking %s = %d %s", name, a.Code, a.body)
		}
		for range 2 { // the unionid arrives at the second
			j = h.start(name, authorizeQuery)
			u, v := h.user(j.open(j.choose("mei")))
			if u.Sub != h.mina.Sub || v.LoginType != logintype.Of(name) || v.SignInMethod() != name || u.LoginType != name ||
				u.Nickname != "Mina Okafor" {
				t.Errorf("after linking %s it is %+v by %s", name, u, v.LoginType)
			}
		}
	}

	// A method of another user is not taken from them.
	j := h.start("wx", authorizeQuery)
	lin, _ := h.user(j.open(j.choose("lin")))
	j = link("wx", mina)
	if a := j.open(j.choose("lin")); a.Code != 400 {
		t.Errorf("linking somebody else's = %d", a.Code)
	}
	if all, err := h.store.Logins(context.Background(), lin.Sub); len(all) != 2 || err != nil {
		t.Errorf("somebody else has %d logins left, %v", len(all), err)
	}

	// The user who began the visit must be the one who arrives.
	j = link("qq", mina)
	target := j.choose("robert")
	j.session = h.enterMina()
	must(t, h.store.EndSession(context.Background(), sessionOf(h, j.session)))
	if a := j.open(target); a.Code != 403 {
		t.Errorf("arriving signed out = %d", a.Code)
	}
}

func TestLinkedMethodIsNotOfferedAgain(t *testing.T) {
	h := newProviderFixture(t, nil)
	mina := h.enterMina()
	must(t, h.store.LinkLogins(context.Background(), h.mina.Sub, storage.Login{Method: "wx", Subject: "o:1"}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, get(web.AccountPath, mina))
	for name, offered := range map[string]bool{"wx": false, "qq": true, "alipay": true, "douyin": true, "feishu": true,
		"wecom": true, "dingtalk": true} {
		if strings.Contains(w.Body.String(), `action="/oauth/signin/with/`+name+`/link"`) != offered {
			t.Errorf("linking %s is offered: %t", name, !offered)
		}
	}
}

// Browsers hold every redirect after a form against form-action, and so those of providers (see page.Look).
func TestAccountPageAloneAllowsFormsToProviders(t *testing.T) {
	h := newProviderFixture(t, nil)
	d := &accountFixture{fixture: h.fixture}
	mina := h.enterMina()
	if a := d.do(get(web.AccountPath, mina)); !a.leaves() {
		t.Errorf("the account page: %s", a.policy())
	}
	for _, name := range providers {
		d.link(h.mina.Sub, storage.Login{Method: name, Subject: "o:1"})
	}
	for what, a := range map[string]answer{"with nothing to link": d.do(get(web.AccountPath, mina)),
		"the sign-in page": h.do(get(web.FormPath))} {
		if a.policy() == "" || a.leaves() {
			t.Errorf("%s: %s", what, a.policy())
		}
	}
}

func sessionOf(h *providerFixture, cookie string) storage.Session {
	v, err := h.store.Session(context.Background(), handle.Hash(cookie))
	must(h.t, err)
	return v
}

func TestLinkingTakesAFormOfOursAndAFreshSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newProviderFixture(t, nil)
		mina := h.enterMina()
		r := post("cookie", mina)
		r.URL.Path = web.WithPath + "wx/link"
		foreign := r.Clone(t.Context())
		foreign.Header.Set("Sec-Fetch-Site", "cross-site")
		if a := h.do(foreign); a.Code != 403 {
			t.Errorf("from another site = %d", a.Code)
		}
		if a := h.do(get(web.WithPath+"wx/link", mina)); a.Code != 405 {
			t.Errorf("by a link = %d", a.Code)
		}
		nobody := post()
		nobody.URL.Path = web.WithPath + "wx/link"
		if a := h.do(nobody); a.Code != 303 || a.Header().Get("Location") != web.AccountPath {
			t.Errorf("by nobody = %d to %s", a.Code, a.Header().Get("Location"))
		}
		time.Sleep(stepup.MaxAge + time.Second)
		r = post("cookie", mina)
		r.URL.Path = web.WithPath + "wx/link"
		if a := h.do(r); a.Code != 200 || !strings.Contains(a.body, "What you typed is kept") {
			t.Errorf("after ten minutes = %d %s", a.Code, a.body)
		}
	})
}
