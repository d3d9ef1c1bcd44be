package console_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/apikeys"
	"github.com/keystile/keystile/storage"
)

// key makes an API key of a user, and returns its id.
func (h *fixture) key(sub string) string {
	h.Helper()
	_, k, err := apikeys.Make(h.Context(), h.store, sub, "build", "tools", 24*time.Hour)
	if err != nil {
		h.Fatal(err)
	}
	return k.ID
}

// shown returns the name that the console gives the only session of a user.
func (h *fixture) shown(sub string) string {
	h.Helper()
	all := must(h.store.Sessions(h.Context(), sub))(h)
	if len(all) != 1 {
		h.Fatalf("%d sessions", len(all))
	}
	sum := sha256.Sum256([]byte("console session\x00" + all[0].ID))
	return hex.EncodeToString(sum[:16])
}

// act sends the first form of a page with other fields.
func (h *fixture) act(path string, who testUser, form url.Values) int {
	h.Helper()
	form.Set("form", h.formOn(h.open(path, who.cookie)))
	return h.send(path, who.cookie, form).Code
}

// A session that an administrator ends is on the trail, and its user is told.
func TestSessionsEndedAreOnTheTrailAndToldToTheUser(t *testing.T) {
	h := newFixture(t)
	root, eve := h.testUser("root", storage.RoleAdmin), h.testUser("eve", "")
	app := h.app("Shop", "")
	must(h.store.SaveConsent(t.Context(), storage.Consent{AppID: app.ID, UserID: eve.Sub, Scope: "openid"}))(t)
	must(h.store.EnsureOpenID(t.Context(), app.ID, eve.Sub))(t)
	key, page := h.key(eve.Sub), "/console/users/"+eve.Sub
	for _, c := range []struct {
		path, do, id, trail, told string
	}{
		{"/keys", "revoke", key, "user key revoke " + eve.Sub + " by " + root.Sub, "API key revoked"},
		{"/grants", "withdraw", app.ID, "user grant withdraw " + eve.Sub + " by " + root.Sub,
			"access of an application removed"},
		{"/sessions", "end", h.shown(eve.Sub), "user session end " + eve.Sub + " by " + root.Sub, "signed out"},
	} {
		h.notices = nil
		if code := h.act(page+c.path, root, url.Values{"do": {c.do}, "ids": {c.id}}); code != 303 {
			t.Errorf("%s: %d", c.path, code)
		}
		if !strings.Contains(h.trail(), c.trail) || len(h.notices) != 1 || !strings.Contains(h.notices[0], c.told) ||
			!strings.HasPrefix(h.notices[0], eve.Sub) {
			t.Errorf("%s: the trail is %s, told is %q", c.path, h.trail(), h.notices)
		}
		if w := h.open(page+c.path, root.cookie); w.Code != 200 || strings.Contains(w.Body.String(), c.id) {
			t.Errorf("%s is listed after it has ended: %d", c.path, w.Code)
		}
	}
	if keys := must(h.store.APIKeys(t.Context(), eve.Sub))(t); len(keys) != 0 {
		t.Errorf("keys that are left: %v", keys)
	}
	if o := must(h.store.OpenID(t.Context(), app.ID, eve.Sub))(t); o.EndedAt.IsZero() {
		t.Error("the application is still connected")
	}
	h.want(h.call("GET", "/api/console/apps", eve.cookie, nil), 401, 401, "with the ended session")
}

// A record of another user is not ended, nor what is named beside it.
func TestSessionsOfAnotherUserAreNotEnded(t *testing.T) {
	h := newFixture(t)
	root, eve, mina := h.testUser("root", storage.RoleAdmin), h.testUser("eve", ""), h.testUser("mina", "")
	foreign := h.key(mina.Sub)
	if a := h.call("DELETE", "/api/console/users/"+eve.Sub+"/keys/"+foreign, root.cookie, nil); a.status != 404 {
		t.Errorf("a key: %s", a.text)
	}
	h.key(eve.Sub)
	for path, form := range map[string]url.Values{
		"/keys":     {"do": {"revoke"}, "ids": {foreign}},
		"/sessions": {"do": {"end"}, "ids": {h.shown(eve.Sub), h.shown(mina.Sub)}},
	} {
		if code := h.act("/console/users/"+eve.Sub+path, root, form); code != 404 {
			t.Errorf("%s: %d", path, code)
		}
	}
	if len(must(h.store.APIKeys(t.Context(), mina.Sub))(t)) != 1 || h.shown(eve.Sub) == "" || h.shown(mina.Sub) == "" {
		t.Error("something was ended")
	}
}

// No role but the administrator's changes users, and none but the auditor's reads them beside it. The
// texts that users set do not become markup, and no secret is shown.
func TestPagesOfUsersByEachRole(t *testing.T) {
	h := newFixture(t)
	root, aud := h.testUser("root", storage.RoleAdmin), h.testUser("aud", storage.RoleAuditor)
	others := []testUser{h.testUser("mina", storage.RoleDeveloper), h.testUser("eve", "")}
	evil := must(h.store.User(t.Context(), others[1].Sub))(t)
	evil.Nickname, evil.Name, evil.Email = `<script>alert(1)</script>`, `"><img src=x>`, `<b>@x`
	must(h.store.SaveUser(t.Context(), evil))(t)
	app := h.app("Shop", "")
	app.Name = "<script>alert(2)</script>"
	must(h.store.SaveApp(t.Context(), app))(t)
	must(h.store.SaveConsent(t.Context(), storage.Consent{AppID: app.ID, UserID: evil.Sub, Scope: "openid"}))(t)
	key := h.key(evil.Sub)
	session := must(h.store.Sessions(t.Context(), evil.Sub))(t)[0].ID
	login := must(h.store.Login(t.Context(), storage.LoginSelf, "eve"))(t)
	page := "/console/users/" + evil.Sub
	for _, path := range []string{"/console/users", "/console/users?q=ev", page, page + "/sessions", page + "/grants",
		page + "/keys"} {
		for _, who := range []testUser{root, aud} {
			w := h.open(path, who.cookie)
			text := w.Body.String()
			if w.Code != 200 || strings.Contains(text, "<script>alert") || strings.Contains(text, "<img") {
				t.Errorf("%s by %s: %d %s", path, who.Username, w.Code, text)
			}
			if strings.Contains(text, session) || strings.Contains(text, login.PasswordHash) || len(text) > 60<<10 {
				t.Errorf("%s shows a secret, or too much: %s", path, text)
			}
			if who.Username == "aud" && strings.Contains(text, `method="post"`) {
				t.Errorf("%s offers an auditor to act", path)
			}
		}
		for _, who := range others {
			if w := h.open(path, who.cookie); w.Code != 403 {
				t.Errorf("%s by %s: %d", path, who.Username, w.Code)
			}
		}
	}
	for _, who := range append(others, aud) {
		form := url.Values{"form": {h.formOn(h.open(page+"/keys", root.cookie))}, "do": {"revoke"}, "ids": {key}}
		if w := h.send(page+"/keys", who.cookie, form); w.Code != 403 {
			t.Errorf("%s revokes a key: %d", who.Username, w.Code)
		}
	}
	for name, form := range map[string]url.Values{"no id": {},
		"another page's id": {"form": {h.formOn(h.open("/console/users/new", root.cookie))}}} {
		form.Set("do", "revoke")
		form.Set("ids", key)
		if w := h.send(page+"/keys", root.cookie, form); w.Code != 400 {
			t.Errorf("a form with %s: %d", name, w.Code)
		}
	}
	if w := h.open("/console/users/new", aud.cookie); w.Code != 403 {
		t.Errorf("an auditor makes users: %d", w.Code)
	}
	if len(must(h.store.APIKeys(t.Context(), evil.Sub))(t)) != 1 {
		t.Error("the key was revoked")
	}
}

func TestUserIsMadeAndDisabledOnThePages(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	code := h.act("/console/users/new", root, url.Values{"do": {"create"}, "username": {"ada"}, "password": {password},
		"role": {"auditor"}})
	ada, err := h.users.Authenticate(t.Context(), "ada", password)
	if code != 303 || err != nil || ada.Role != storage.RoleAuditor {
		t.Fatalf("made is %d %+v %v", code, ada, err)
	}
	page := "/console/users/" + ada.Sub
	h.act(page, root, url.Values{"do": {"disabled"}, "disabled": {"1"}})
	if !must(h.store.User(t.Context(), ada.Sub))(t).Disabled {
		t.Error("not disabled")
	}
	h.act(page, root, url.Values{"do": {"disabled"}})
	h.act(page, root, url.Values{"do": {"role"}, "role": {""}})
	if u := must(h.store.User(t.Context(), ada.Sub))(t); u.Disabled || u.Role != "" {
		t.Errorf("changed is %+v", u)
	}
	if code := h.act("/console/users/"+root.Sub, root, url.Values{"do": {"role"}, "role": {""}}); code != 400 {
		t.Errorf("the last administrator stops: %d", code)
	}
	form := url.Values{"do": {"invite"}, "days": {"3"}, "form": {h.formOn(h.open("/console/users/new", root.cookie))}}
	w := h.send("/console/users/new", root.cookie, form)
	_, rest, _ := strings.Cut(w.Body.String(), base+"/oauth/signin/signup</pre>")
	_, rest, _ = strings.Cut(rest, "data-copy>")
	invitation, _, _ := strings.Cut(rest, "<")
	if u, err := h.users.SignUp(t.Context(), storage.User{Username: "bea"}, password, invitation); err != nil ||
		strings.Contains(h.trail(), invitation) || u.Username != "bea" {
		t.Errorf("invited is %+v %v with %q", u, err, invitation)
	}
}

func TestExportIsToldToTheUserAndOnTheTrail(t *testing.T) {
	h := newFixture(t)
	root, eve := h.testUser("root", storage.RoleAdmin), h.testUser("eve", "")
	shown := h.open("/console/users/"+eve.Sub, root.cookie).Body.String()
	_, form, _ := strings.Cut(shown, `/export"><input type="hidden" name="form" value="`)
	form, _, _ = strings.Cut(form, `"`)
	for _, path := range []string{"/console/users/" + eve.Sub + "/export", "/api/console/users/" + eve.Sub + "/export"} {
		h.events, h.notices = nil, nil
		r := httptest.NewRequest("GET", base+path, nil)
		r.Header.Set("Cookie", root.cookie)
		w := httptest.NewRecorder()
		if h.console.ServeHTTP(w, r); w.Code != 405 || w.Header().Get("Allow") != "POST" || len(h.events)+len(h.notices) > 0 {
			t.Errorf("GET %s is %d, Allow %q: %v %v", path, w.Code, w.Header().Get("Allow"), h.events, h.notices)
		}
		if strings.HasPrefix(path, "/api/") {
			h.want(h.do("POST", path, root.cookie, "{}"), 200, 1, path)
		} else if w := h.send(path, root.cookie, url.Values{"do": {"export"}, "form": {form}}); w.Code != 200 || !strings.Contains(w.Header().Get("Content-Disposition"), "user.json") || !strings.Contains(w.Body.String(), `"username": "eve"`) {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		if want := "user export " + eve.Sub + " by " + root.Sub; !strings.Contains(h.trail(), want) {
			t.Errorf("%s: the trail is %s", path, h.trail())
		}
		if told := strings.Join(h.notices, " "); len(h.notices) != 1 || !strings.Contains(told, "exported") ||
			!strings.Contains(told, eve.Sub) {
			t.Errorf("%s: the user was told %s", path, told)
		}
	}
}

func TestUsersAreFoundByTheirRole(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	eve := h.testUser("eve-aud", storage.RoleAuditor)
	h.testUser("eve-none", "")
	find := func(query, want string) {
		t.Helper()
		for _, path := range []string{"/console/users?", "/api/console/users?"} {
			body := h.open(path+query, root.cookie).Body.String()
			for _, name := range []string{"root", "eve-aud", "eve-none"} {
				shown := strings.Contains(body, `"username":"`+name+`"`) || strings.Contains(body, "<bdi>"+name+"</bdi></a> <small")
				if shown != (name == want) {
					t.Errorf("%s%s: %s is shown: %v", path, query, name, shown)
				}
			}
		}
	}
	find("role=auditor", "eve-aud")
	find("role=auditor&q=EVE", "eve-aud")
	find("role=auditor&q=root", "")
	find("role=admin", "root")
	find("role=developer", "")
	if w := h.open("/console/users?role=queen", root.cookie); w.Code != 400 {
		t.Errorf("a role that there is not is %d", w.Code)
	}
	u := must(h.store.User(t.Context(), eve.Sub))(t)
	u.Role = storage.RoleDeveloper
	must(h.store.SaveUser(t.Context(), u))(t)
	find("role=auditor", "")
	find("role=developer", "eve-aud")
}
