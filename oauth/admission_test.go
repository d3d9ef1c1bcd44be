package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/groups"
)

// admit says who may use the fixture's application.
func (h *fixture) admit(allow, deny []string) {
	h.Helper()
	h.app = must(h.store.App(context.Background(), h.app.ID))(h)
	h.app.Admission = &access.Admission{Allow: allow, Deny: deny, Since: time.Now()}
	h.app = h.register(h.app)
}

// group makes a group of some users.
func (h *fixture) group(name string, subs ...string) groups.Group {
	h.Helper()
	g := must(h.store.SaveGroup(context.Background(), groups.Group{Name: name}))(h)
	for _, sub := range subs {
		must(h.store.AddMember(context.Background(), name, sub))(h)
	}
	return g
}

func (h *fixture) role(role string) {
	h.Helper()
	h.user = must(h.store.User(context.Background(), h.user.Sub))(h)
	h.user.Role = role
	h.user = must(h.store.SaveUser(context.Background(), h.user))(h)
}

// deleted deletes a group that was allowed a moment ago.
func (h *fixture) deleted(g groups.Group) {
	h.Helper()
	h.admit([]string{"group:" + g.Name}, nil)
	if err := h.store.DeleteGroup(context.Background(), g); err != nil {
		h.Fatal(err)
	}
}

// admissions holds all that an administrator may say of the users of an application, and whether Ada is admitted then.
var admissions = map[string]struct {
	said     func(h *fixture)
	admitted bool
}{
	"nothing is said":  {func(*fixture) {}, true},
	"everyone":         {func(h *fixture) { h.admit([]string{"everyone"}, nil) }, true},
	"the user":         {func(h *fixture) { h.admit([]string{"user:" + h.user.Sub}, nil) }, true},
	"another user":     {func(h *fixture) { h.admit([]string{"user:uother"}, nil) }, false},
	"the role":         {func(h *fixture) { h.role("developer"); h.admit([]string{"role:developer"}, nil) }, true},
	"another role":     {func(h *fixture) { h.role("developer"); h.admit([]string{"role:admin"}, nil) }, false},
	"an administrator": {func(h *fixture) { h.role("admin"); h.admit([]string{"role:developer"}, nil) }, false},
	"a group of the user": {func(h *fixture) {
		h.group("ops", h.user.Sub)
		h.admit([]string{"role:admin", "group:ops"}, nil)
	}, true},
	"another group":        {func(h *fixture) { h.group("ops"); h.admit([]string{"group:ops"}, nil) }, false},
	"a group there is not": {func(h *fixture) { h.admit([]string{"group:ops"}, nil) }, false},
	"allowed and denied": {func(h *fixture) {
		h.admit([]string{"user:" + h.user.Sub}, []string{"user:" + h.user.Sub})
	}, false},
	"denied by a group": {func(h *fixture) {
		h.group("ops", h.user.Sub)
		h.admit(nil, []string{"group:ops"})
	}, false},
	"an administrator denied": {func(h *fixture) { h.role("admin"); h.admit(nil, []string{"role:admin"}) }, false},
	"denied by a group that was deleted": {func(h *fixture) {
		g := h.group("ops", h.user.Sub)
		h.admit(nil, []string{"group:ops"})
		if err := h.store.DeleteGroup(context.Background(), g); err != nil {
			h.Fatal(err)
		}
	}, true},
	"a group that was deleted": {func(h *fixture) { h.deleted(h.group("ops", h.user.Sub)) }, false},
	"a group that was made anew": {func(h *fixture) {
		h.deleted(h.group("ops", h.user.Sub))
		h.group("ops", h.user.Sub)
	}, false},
	"a group that the user was in": {func(h *fixture) {
		h.group("ops", h.user.Sub)
		h.admit([]string{"group:ops"}, nil)
		must(h.store.RemoveMember(context.Background(), "ops", h.user.Sub))(h)
	}, false},
}

// entrance is a way of a user to an application. It begins before it is said who may, and reports what comes of going
// on: "" for in, and else how the application is told.
type entrance func(h *fixture, c *fakeConsent) (goOn func() string)

// answered returns the error that an application learns at its redirect_uri, "" for a code.
func answered(h *fixture, w *httptest.ResponseRecorder) string {
	to, _ := url.Parse(w.Header().Get("Location"))
	switch {
	case w.Code == 403:
		to = linkOf(w)
		if to == nil || to.Query().Get("state") != "xyz" || !strings.HasPrefix(to.String(), redirect+"?") {
			h.Errorf("the page leads to %v: %s", to, w.Body)
			return "?"
		}
		return "page, " + to.Query().Get("error")
	case to != nil && to.Query().Get("code") != "":
		return ""
	case to != nil && to.Query().Get("state") == "xyz" && strings.HasPrefix(to.String(), redirect+"?"):
		return to.Query().Get("error")
	}
	return fmt.Sprint(w.Code, w.Header(), w.Body)
}

// refused returns the error that an application is told for its secret, "" for none.
func refused(a answer) string {
	switch {
	case a.status >= 500:
		return fmt.Sprint(a.status)
	case a.body["active"] == false:
		return "inactive"
	}
	return a.text("error")
}

var entrances = map[string]struct {
	way  entrance
	told string
}{
	"authorize": {func(h *fixture, _ *fakeConsent) func() string {
		return func() string { return answered(h, h.authorize()) }
	}, "page, access_denied"},
	"authorize with prompt=none": {func(h *fixture, _ *fakeConsent) func() string {
		return func() string { return answered(h, h.authorize("prompt", "none")) }
	}, "access_denied"},
	"authorize of a first-party application": {func(h *fixture, c *fakeConsent) func() string {
		h.app.FirstParty, c.allowed = true, false
		h.app = h.register(h.app)
		return func() string { return answered(h, h.authorize()) }
	}, "page, access_denied"},
	"authorize after a sign-in": {func(h *fixture, _ *fakeConsent) func() string {
		session := h.browser.session
		h.browser.session = nil
		return func() string {
			if w := h.authorize(); w.Body.String() != "please sign in" {
				h.Errorf("before the sign-in: %d %s", w.Code, w.Body)
			}
			h.browser.session = session
			return answered(h, h.authorize())
		}
	}, "page, access_denied"},
	"authorize by a form": {func(h *fixture, _ *fakeConsent) func() string {
		return func() string {
			v := form("response_type", "code", "client_id", h.app.ID, "redirect_uri", redirect, "state", "xyz")
			r := httptest.NewRequest("POST", "/oauth/authorize", strings.NewReader(v.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			return answered(h, h.serve(r))
		}
	}, "page, access_denied"},
	"a code": {func(h *fixture, _ *fakeConsent) func() string {
		code := h.code()
		return func() string { return refused(h.exchange(code)) }
	}, "invalid_grant"},
	"a refresh token": {func(h *fixture, _ *fakeConsent) func() string {
		token := h.exchange(h.code()).tokens(h).text("refresh_token")
		return func() string { return refused(h.refresh(token)) }
	}, "invalid_grant"},
	"introspection": {func(h *fixture, _ *fakeConsent) func() string {
		token := h.exchange(h.code()).tokens(h).text("access_token")
		return func() string { return refused(h.post("/oauth/introspect", h.tokenForm("token", token))) }
	}, "inactive"},
	"introspection of a refresh token": {func(h *fixture, _ *fakeConsent) func() string {
		token := h.exchange(h.code()).tokens(h).text("refresh_token")
		return func() string { return refused(h.post("/oauth/introspect", h.tokenForm("token", token))) }
	}, "inactive"},
	"authorize of the old endpoints": {func(h *fixture, _ *fakeConsent) func() string {
		return func() string {
			at := h.server.Legacy().SignIn(h.app, "self", redirect, "xyz")
			return answered(h, h.serve(httptest.NewRequest("GET", at, nil)))
		}
	}, "page, access_denied"},
	"a code of the old endpoints": {func(h *fixture, _ *fakeConsent) func() string {
		return func() string {
			_, err := h.server.Legacy().Code(h.Context(), h.app, *h.browser.session, redirect, netip.Addr{})
			if errors.Is(err, storage.ErrNotFound) {
				return "not found"
			} else if err != nil {
				return err.Error()
			}
			return ""
		}
	}, "not found"},
	"an agent": {func(h *fixture, _ *fakeConsent) func() string {
		h.app = h.register(storage.App{ID: client.DynamicPrefix + "agent", Name: "Agent", Public: true,
			Client: &client.Description{Kind: client.Dynamic, AuthMethod: client.AuthNone,
				Grants: []string{"authorization_code"}, RedirectURIs: []string{redirect}}})
		return func() string {
			return answered(h, h.authorize("code_challenge", challengeOf(verifier), "code_challenge_method", "S256"))
		}
	}, "page, access_denied"},
}

func TestNobodyGetsIntoAnApplicationThatDoesNotAdmitThem(t *testing.T) {
	for name, in := range entrances {
		for said, is := range admissions {
			var trail trail
			c := &fakeConsent{allowed: true}
			h := newFixture(t, func(o *oauth.Config) { o.Consent, o.Log, o.Audit = c, quiet, &trail })
			goOn := in.way(h, c)
			is.said(h)
			want := map[bool]string{true: "", false: in.told}[is.admitted]
			if got := goOn(); got != want {
				t.Errorf("%s, %s: %q, want %q", name, said, got, want)
			}
			noted := slices.ContainsFunc(trail.events, func(e event.Event) bool {
				return strings.Contains(e.Detail, event.DetailNotAdmitted) && e.User == h.user.Sub && e.App == h.app.ID &&
					e.Status >= 400
			})
			quietly := strings.HasPrefix(name, "introspection") || name == "a code of the old endpoints"
			if noted == (is.admitted || quietly) {
				t.Errorf("%s, %s: the trail has %+v", name, said, trail.events)
			}
		}
	}
}

// A grant that was refused is not spent: a user who is let in again goes on.
func TestGrantOfAUserWhoIsKeptOutStays(t *testing.T) {
	h := newFixture(t)
	code, token := h.code(), h.exchange(h.code()).tokens(t).text("refresh_token")
	h.admit(nil, []string{"user:" + h.user.Sub})
	h.exchange(code).wants(t, "a code", 400, 400, "invalid_grant")
	h.refresh(token).wants(t, "a refresh token", 400, 400, "invalid_grant")
	h.admit(nil, []string{"user:uother"})
	h.exchange(code).tokens(t)
	h.refresh(token).tokens(t)
}

// Access tokens are as good as they are long (decision 115).
func TestAccessTokenOfAUserWhoIsKeptOutLivesUntilItEnds(t *testing.T) {
	h := newFixture(t)
	token := h.exchange(h.code()).tokens(t).text("access_token")
	h.admit(nil, []string{"user:" + h.user.Sub})
	if a := h.userInfo(token); a.status != 200 {
		t.Errorf("userinfo = %d %v", a.status, a.body)
	}
}

func TestApplicationItselfIsNoUser(t *testing.T) {
	h := newFixture(t)
	h.admit(nil, []string{"everyone"})
	h.token("grant_type", "client_credentials").tokens(t)
}

func TestPageOfAUserWhoIsNotAdmittedEscapesAndLeadsToTheApplicationAlone(t *testing.T) {
	const evil = `<b>"x"</b>` + "\u202e"
	h := newFixture(t)
	h.app.Name = evil
	h.app = h.register(h.app)
	h.user.Nickname, h.user.Username = evil, "eve<i>"
	h.user = must(h.store.SaveUser(t.Context(), h.user))(t)
	h.admit([]string{"role:admin"}, nil)
	w := h.authorize("state", `"><script>`, "prompt", "consent", "nonce", "n", "sign", "-")
	text := w.Body.String()
	for _, bad := range []string{"<b>", "<i>", "<script", "\u202e", "http-equiv"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page has %q: %s", bad, text)
		}
	}
	if w.Code != 403 || w.Header().Get("Location") != "" || !strings.Contains(html.UnescapeString(text), "eve<i>") {
		t.Errorf("the page is %d %v %s", w.Code, w.Header(), text)
	}
	if to := linkOf(w); to == nil || to.Host != "app.example.com" || to.Query().Get("state") != `"><script>` ||
		to.Query().Get("error") != "access_denied" || to.Query().Get("iss") != issuer {
		t.Errorf("it leads to %v", to)
	}
	other := between(text, `<a class="button quiet" href="`, `"`)
	at, err := url.Parse(html.UnescapeString(other))
	if err != nil || at.Host != "" || at.Path != "/oauth/authorize" ||
		at.Query().Get("prompt") != "select_account consent" || at.Query().Get("state") != `"><script>` || at.Query().Get("nonce") != "n" {
		t.Errorf("another account signs in at %q", other)
	}
	if h.serve(httptest.NewRequest("GET", at.String(), nil)); h.browser.prompts != 1 {
		t.Error("that asks nobody to sign in")
	}
	w = h.authorize("redirect_uri", "https://evil.example/")
	if w.Code != 400 || strings.Contains(w.Body.String(), "evil.example/?") {
		t.Errorf("to another site: %d %s", w.Code, w.Body)
	}
}

func between(text, begin, end string) string {
	_, text, _ = strings.Cut(text, begin)
	text, _, _ = strings.Cut(text, end)
	return text
}

func TestPrivateUseSchemeIsALinkToo(t *testing.T) {
	h := newFixture(t)
	h.app = h.register(storage.App{Name: "Phone", Public: true, RedirectURIs: []string{"com.example.phone:/cb"}})
	h.admit([]string{"role:admin"}, nil)
	w := h.authorize("redirect_uri", "com.example.phone:/cb", "code_challenge", challengeOf(verifier),
		"code_challenge_method", "S256")
	if to := linkOf(w); w.Code != 403 || to == nil || to.Scheme != "com.example.phone" {
		t.Errorf("it leads to %v: %s", to, w.Body)
	}
}

func TestPageSpeaksTheLanguageOfItsReader(t *testing.T) {
	h := newFixture(t)
	h.admit([]string{"role:admin"}, nil)
	w := h.authorize("ui_locales", "zh-CN")
	for _, want := range []string{`<html lang="zh-CN">`, "您不能使用此应用", "您已以 ada 的身份登录，该账户不能使用 App。"} {
		if !strings.Contains(w.Body.String(), want) {
			t.Errorf("the page lacks %q: %s", want, w.Body)
		}
	}
}

// If the store does not answer nobody is let in, and nobody is told that they may not.
func TestNobodyIsLetInWhileGroupsCannotBeRead(t *testing.T) {
	for name, in := range entrances {
		c := &fakeConsent{allowed: true}
		h := newFixture(t, func(o *oauth.Config) { o.Consent, o.Log = c, quiet })
		goOn := in.way(h, c)
		h.group("ops", h.user.Sub)
		h.admit([]string{"group:ops"}, nil)
		h.calls.away = "member"
		got, want := goOn(), "503"
		if name == "a code of the old endpoints" { // whose caller answers
			want = storage.ErrUnavailable.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %s", name, got, want)
		}
	}
}

func TestApplicationWithoutAnAdmissionCostsNoReadMore(t *testing.T) {
	h := newFixture(t)
	h.code()
	open := h.calls.during(func() { h.code() })
	h.admit([]string{"user:" + h.user.Sub}, nil)
	named := h.calls.during(func() { h.code() })
	h.group("ops", h.user.Sub)
	h.admit([]string{"group:ops"}, nil)
	grouped := h.calls.during(func() { h.code() })
	if open["Get"]+1 != named["Get"] || maps.Equal(named, grouped) {
		t.Errorf("without one %v, of a user %v, of a group %v", open, named, grouped)
	}
	delete(open, "Get")
	delete(named, "Get")
	if !maps.Equal(open, named) {
		t.Errorf("without one %v, of a user %v", open, named)
	}
}

// ownTable is a host's own table of users.
type ownTable struct{ user storage.User }

func (o ownTable) User(_ context.Context, sub string) (storage.User, error) {
	if sub != o.user.Sub {
		return storage.User{}, storage.ErrNotFound
	}
	return o.user, nil
}

func TestUsersOfAHostsOwnAreAdmittedAlike(t *testing.T) {
	for said, is := range map[string]struct {
		allow, deny []string
		want        int
	}{
		"the user":       {[]string{"user:emp-7"}, nil, http.StatusFound},
		"another user":   {[]string{"user:emp-8"}, nil, http.StatusForbidden},
		"the role":       {[]string{"role:developer"}, nil, http.StatusFound},
		"another role":   {[]string{"role:admin"}, nil, http.StatusForbidden},
		"the user, not":  {nil, []string{"user:emp-7"}, http.StatusForbidden},
		"a group":        {[]string{"group:ops"}, nil, http.StatusFound},
		"another group":  {[]string{"group:dev"}, nil, http.StatusForbidden},
		"not of a group": {nil, []string{"group:ops"}, http.StatusForbidden},
	} {
		own := storage.User{Sub: "emp-7", Username: "grace", Role: "developer"}
		h := newFixture(t, func(o *oauth.Config) { o.Users = ownTable{own} })
		h.browser.signIn(own)
		h.group("ops")
		h.group("dev")
		if _, _, err := h.store.FollowGroups(t.Context(), own.Sub, "directory", []string{"ops"}); err != nil {
			t.Fatal(err)
		}
		h.admit(is.allow, is.deny)
		if w := h.authorize(); w.Code != is.want {
			t.Errorf("%s: %d, want %d", said, w.Code, is.want)
		}
	}
}
