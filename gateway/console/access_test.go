package console_test

import (
	"io"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
)

// untouched is a body that records whether it was read.
type untouched struct{ read atomic.Bool }

func (u *untouched) Read([]byte) (int, error) { u.read.Store(true); return 0, io.EOF }

// Decisions 18 and 57.
func TestBodyIsReadOnlyOnceTheCallerIsKnown(t *testing.T) {
	h := newFixture(t)
	root, mina, eve := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper),
		h.testUser("eve", "")
	aud := h.testUser("aud", storage.RoleAuditor)
	stale := h.signedIn(root.Sub, time.Now().Add(-10*time.Minute-time.Second))
	ahead := h.signedIn(root.Sub, time.Now().Add(2*time.Minute))
	app, order := h.waits(h.app("Shop", mina.Sub))
	evil := []string{"Origin", "https://evil.example.com", "Content-Type", ""}
	for _, c := range each(app.ID, order, eve.Sub) {
		reads := c.method == "GET"
		for _, as := range []struct {
			name, cookie string
			headers      []string
			status, code int
		}{
			{"nobody", "", nil, 401, 401},
			{"nobody, from another site", "", evil, 401, 401},
			{"two cookies", root.cookie + "; " + mina.cookie, nil, 401, 401},
			{"an unknown cookie", "open_sso_token=" + handle.NewCookie(), nil, 401, 401},
			{"who has no role, from another site", eve.cookie, evil, 403, 403},
			{"an auditor", aud.cookie, []string{"Content-Type", ""}, 403, 403},
			{"another site", root.cookie, []string{"Sec-Fetch-Site", "cross-site", "Content-Type", "text/plain"}, 403, 403},
			{"who signed in long ago, with a form", stale, []string{"Content-Type", "text/plain"}, 403, 4031},
			{"who signed in long ago", stale, nil, 403, 4031},
			{"who will sign in", ahead, nil, 403, 4031},
			{"a form", root.cookie, []string{"Content-Type", "application/x-www-form-urlencoded"}, 400, 400},
			{"no type", root.cookie, []string{"Content-Type", ""}, 400, 400},
		} {
			if reads && as.status != 401 {
				continue // reading takes neither a fresh sign-in nor a type, and no page can read the answer
			}
			if c.method == "DELETE" && as.status == 400 {
				continue // no form sends it
			}
			body := &untouched{}
			h.want(h.call(c.method, c.path, as.cookie, body, as.headers...), as.status, as.code,
				as.name+" at "+c.method+" "+c.path)
			if body.read.Load() {
				t.Errorf("%s at %s %s: the body was read", as.name, c.method, c.path)
			}
		}
		if c.admin {
			body := &untouched{}
			for name, cookie := range map[string]string{"a developer": mina.cookie, "who has no role": eve.cookie} {
				h.want(h.call(c.method, c.path, cookie, body, "Content-Type", ""), 403, 403, name+" at "+c.method+" "+c.path)
				if body.read.Load() {
					t.Errorf("%s at %s %s: the body was read", name, c.method, c.path)
				}
			}
		}
		if reads {
			h.want(h.call(c.method, c.path, aud.cookie, nil), 200, 1, "an auditor reads "+c.path)
			h.want(h.call(c.method, c.path, stale, nil), 200, 1, "an old sign-in reads "+c.path)
		}
	}
	if len(h.events)+len(h.notices) > 0 {
		t.Errorf("something was done: %s%v", h.trail(), h.notices)
	}
	if now := must(h.store.App(t.Context(), app.ID))(t); now.Version != app.Version {
		t.Error("the application was changed")
	}
}

// A token is in the hands of an application: nothing of the console is for it.
func TestBearerTokenGivesNoAccessToTheConsole(t *testing.T) {
	h := newFixture(t)
	root, mina := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper)
	roots := h.app("Office", root.Sub)
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {roots.ID},
		"client_secret": {roots.AppKey().Reveal()}}
	r := httptest.NewRequest("POST", base+"/oauth/token", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	h.provider.ServeHTTP(w, r)
	_, rest, _ := strings.Cut(w.Body.String(), `"access_token":"`)
	bearer, _, ok := strings.Cut(rest, `"`)
	if !ok {
		t.Fatalf("no token: %s", w.Body)
	}
	session := strings.TrimPrefix(root.cookie, "open_sso_token=")
	for _, c := range each(roots.ID, "ornone", mina.Sub) {
		for _, value := range []string{"Bearer " + bearer, "Bearer " + session} {
			h.want(h.call(c.method, c.path, "", strings.NewReader(c.body), "Authorization", value), 401, 401,
				"a bearer alone at "+c.method+" "+c.path)
		}
		a, b := h.do(c.method, c.path, mina.cookie, c.body), h.call(c.method, c.path, mina.cookie, strings.NewReader(c.body),
			"Authorization", "Bearer "+bearer)
		if a.status != b.status || a.body.Code != b.body.Code {
			t.Errorf("%s %s: a bearer beside a cookie makes %d of %d", c.method, c.path, b.status, a.status)
		}
	}
	h.want(h.call("GET", "/api/console/apps/"+roots.ID, mina.cookie, nil, "Authorization", "Bearer "+bearer), 404, 404,
		"a developer with an administrator's token")
}

func TestEverybodyHasTheirOwnAndNothingOfOthers(t *testing.T) {
	for _, role := range []string{storage.RoleDeveloper, ""} {
		t.Run("role "+role, func(t *testing.T) { hasTheirOwn(t, role) })
	}
}

func hasTheirOwn(t *testing.T, role string) {
	h := newFixture(t)
	mina, ada := h.testUser("mina", role), h.testUser("ada", storage.RoleDeveloper)
	h.testUser("root", storage.RoleAdmin)
	for name, owner := range map[string]string{"a neighbour's": ada.Sub, "nobody's": ""} {
		app, order := h.waits(h.app("Shop", owner))
		foreign, absent := each(app.ID, order, ""), each("ksnobody", "ornone", "")
		for i, c := range foreign {
			if c.admin || !strings.Contains(c.path, app.ID) && !strings.Contains(c.path, order) {
				continue
			}
			a, b := h.do(c.method, c.path, mina.cookie, c.body), h.do(c.method, absent[i].path, mina.cookie, c.body)
			if a.status != 404 || a.text != b.text {
				t.Errorf("%s: %s %s = %d %s, absent %s", name, c.method, c.path, a.status, a.text, b.text)
			}
		}
		for _, list := range []string{"/api/console/apps", "/api/console/apps?owner=" + ada.Sub, "/api/console/orders",
			"/api/console/orders?client_id=" + app.ID, "/api/console/orders?status=pending"} {
			if a := h.want(h.call("GET", list, mina.cookie, nil), 200, 1, list); strings.Contains(a.text, app.ID) {
				t.Errorf("%s shows what is %s: %s", list, name, a.text)
			}
		}
		if now := must(h.store.App(t.Context(), app.ID))(t); now.Version != app.Version {
			t.Errorf("what is %s was changed", name)
		}
	}
	own, order := h.waits(h.app("Own", mina.Sub))
	for _, list := range []string{"/api/console/apps", "/api/console/apps?owner=" + mina.Sub, "/api/console/orders"} {
		if a := h.call("GET", list, mina.cookie, nil); !strings.Contains(a.text, own.ID) {
			t.Errorf("%s: %s", list, a.text)
		}
	}
	h.want(h.do("DELETE", "/api/console/orders/"+order, mina.cookie, ""), 200, 1, "taking an own order back")
	for _, field := range []string{`"first_party":true`, `"first_party":false`, `"owner":"` + ada.Sub + `"`, `"disabled":true`, `"allow_http_redirect":true`, `"forbid_plain":true`} {
		h.want(h.do("PATCH", "/api/console/apps/"+own.ID, mina.cookie, `{"name":"X",`+field+`}`), 403, 403, "a developer sets "+field)
	}
	for _, field := range []string{`"first_party":true`, `"tier":"enterprise"`, `"owner":""`} {
		h.want(h.do("POST", "/api/console/apps", mina.cookie, `{"name":"X","domains":["x.example.com"],`+field+`}`), 403, 403, "a developer makes one with "+field)
	}
	h.want(h.do("POST", "/api/console/apps", mina.cookie, `{"name":"More","domains":["x.example.com"]}`), 200, 1, "making one")
	if now := must(h.store.App(t.Context(), own.ID))(t); now.Name != "Own" {
		t.Errorf("half of a refused change was done: %+v", now)
	}
}

// An auditor sees all and changes nothing, what they had made before included.
func TestAuditorChangesNothing(t *testing.T) {
	h := newFixture(t)
	h.testUser("root", storage.RoleAdmin)
	aud, eve := h.testUser("aud", storage.RoleAuditor), h.testUser("eve", "")
	for name, owner := range map[string]string{"their own": aud.Sub, "a neighbour's": eve.Sub, "nobody's": ""} {
		app, order := h.waits(h.app("Shop", owner))
		for _, c := range each(app.ID, order, eve.Sub) {
			a := h.do(c.method, c.path, aud.cookie, c.body)
			switch {
			case c.method == "GET" && a.status != 200:
				t.Errorf("%s: %s = %s", name, c.path, a.text)
			case c.method != "GET" && (a.status != 403 || a.body.Code != 403 || !strings.Contains(a.text, "changes nothing")):
				t.Errorf("%s: %s %s = %s", name, c.method, c.path, a.text)
			}
			if strings.Contains(a.text, app.AppKey().Reveal()) {
				t.Errorf("%s shows the secret", c.path)
			}
		}
		for _, list := range []string{"/api/console/apps", "/api/console/apps?owner=" + owner, "/api/console/orders",
			"/api/console/orders?client_id=" + app.ID} {
			if a := h.want(h.call("GET", list, aud.cookie, nil), 200, 1, list); !strings.Contains(a.text, app.ID) {
				t.Errorf("%s does not show what is %s", list, name)
			}
		}
		if now := must(h.store.App(t.Context(), app.ID))(t); now.Version != app.Version {
			t.Errorf("what is %s was changed", name)
		}
	}
	if len(h.events)+len(h.notices) > 0 {
		t.Errorf("something was done: %s%v", h.trail(), h.notices)
	}
}

// Decision 57: ten minutes, to the second, and by nothing but a new sign-in.
func TestSignInIsEnoughForTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		mina := h.testUser("mina", storage.RoleDeveloper)
		app := h.app("Shop", mina.Sub)
		rotate := func(cookie string) answer {
			return h.do("POST", "/api/console/apps/"+app.ID+"/secret", cookie, `{"overlap_seconds":0}`)
		}
		time.Sleep(10 * time.Minute)
		h.want(h.call("GET", "/api/console/apps", mina.cookie, nil), 200, 1, "using the session")
		h.want(rotate(mina.cookie), 200, 1, "after ten minutes")
		time.Sleep(time.Second)
		no := h.want(rotate(mina.cookie), 403, 4031, "a second later")
		if !strings.Contains(no.body.Msg, "sign in again") {
			t.Errorf("it says %s", no.text)
		}
		h.want(rotate(h.signedIn(mina.Sub, time.Now())), 200, 1, "signed in again")
	})
}

func TestNewReportsEveryMistakeInTheConfig(t *testing.T) {
	_, err := console.New(t.Context(), console.Config{BaseURL: "id.example.com", Visitors: nobody{}})
	for _, want := range []string{"Store is missing", "Revoker is missing", "Trail is missing",
		"is not an origin"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("it does not say %q: %v", want, err)
		}
	}
}
