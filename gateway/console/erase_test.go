package console_test

import (
	"errors"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
)

// eveByName is her name as a word: a sub is drawn, and may have these letters in it.
var eveByName = regexp.MustCompile(`\beve\b`)

func TestAdministratorErasesAUser(t *testing.T) {
	h := newFixture(t)
	root, eve, aud := h.testUser("root", storage.RoleAdmin), h.testUser("eve", ""), h.testUser("aud", storage.RoleAuditor)
	page := "/console/users/" + eve.Sub
	must(h.store.SaveConsent(t.Context(), storage.Consent{AppID: h.app("Shop", "").ID, UserID: eve.Sub,
		Scope: "openid"}))(t)
	h.key(eve.Sub)
	if w := h.open("/console/sessions", root.cookie); !strings.Contains(w.Body.String(), ">eve<") {
		t.Fatalf("the sessions do not show the name: %s", w.Body)
	}
	stale := h.signedIn(root.Sub, time.Now().Add(-11*time.Minute))
	for _, c := range []struct {
		cookie string
		sub    string
		want   int
	}{{aud.cookie, eve.Sub, 403}, {eve.cookie, eve.Sub, 403}, {stale, eve.Sub, 403}, {root.cookie, root.Sub, 409},
		{root.cookie, "unobody", 404}} {
		if a := h.do("DELETE", "/api/console/users/"+c.sub, c.cookie, ""); a.status != c.want {
			t.Errorf("erasing %s is %d, want %d: %s", c.sub, a.status, c.want, a.text)
		}
	}
	for _, typed := range []string{"", "Eve", "ev", root.Sub} {
		if code := h.act(page, root, url.Values{"do": {"erase"}, "confirm": {typed}}); code != 400 {
			t.Errorf("with %q typed it is %d", typed, code)
		}
	}
	if u := must(h.store.User(t.Context(), eve.Sub))(t); u.Disabled || len(h.events)+len(h.notices) > 0 {
		t.Fatalf("refused acts changed something: %+v, %s, %v", u, h.trail(), h.notices)
	}

	w := h.send(page, root.cookie, url.Values{"do": {"erase"}, "confirm": {"eve"},
		"form": {h.formOn(h.open(page, root.cookie))}})
	if text := w.Body.String(); w.Code != 200 || !strings.Contains(text, "was erased") || strings.Contains(text, "eve<") {
		t.Fatalf("the page is %d %s", w.Code, text)
	}
	if want := "user erase " + eve.Sub + " by " + root.Sub; !strings.Contains(h.trail(), want) ||
		eveByName.MatchString(h.trail()) {
		t.Errorf("the trail is %s", h.trail())
	}
	if len(h.notices) != 1 || !strings.HasPrefix(h.notices[0], eve.Sub) || !strings.Contains(h.notices[0], "erased") {
		t.Errorf("told is %v", h.notices)
	}
	if _, err := h.users.Authenticate(t.Context(), "eve", password); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the password says %v", err)
	}
	for _, path := range []string{page, page + "/sessions", page + "/keys"} {
		if w := h.open(path, root.cookie); w.Code != 404 {
			t.Errorf("%s is %d", path, w.Code)
		}
	}
	for path, code := range map[string]int{"/console/sessions": 200, "/console/users": 200, "/console/users?q=eve": 200,
		"/console/grants?user=eve": 404} { // a page that says so, and asks again
		if w := h.open(path, root.cookie); w.Code != code || !strings.Contains(w.Body.String(), `role="search"`) ||
			strings.Contains(w.Body.String(), ">eve<") {
			t.Errorf("%s still shows the name: %d", path, w.Code)
		}
	}
	// A record that is left shows no name that was remembered.
	now := time.Now()
	must(h.store.Sweep(t.Context(), now.Add(25*time.Hour)))(t)
	must(h.store.SaveSession(t.Context(), storage.Session{ID: "left", UserID: eve.Sub, AuthTime: now,
		ExpiresAt: now.Add(time.Hour), EndsAt: now.Add(time.Hour)}))(t)
	root.cookie = h.signedIn(root.Sub, now)
	if w := h.open("/console/sessions", root.cookie); w.Code != 200 || strings.Contains(w.Body.String(), ">eve<") ||
		!strings.Contains(w.Body.String(), eve.Sub) {
		t.Errorf("a session that is left is shown as %d %s", w.Code, w.Body)
	}
	again := h.testUser("eve", "")
	if again.Sub == eve.Sub {
		t.Error("the next user of the name has the same sub")
	}
}

func TestOwnerIsNotErasedAndAHalfErasedUserIsShownAsOne(t *testing.T) {
	h := newFixture(t)
	root, mina := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper)
	app := h.app("Shop", mina.Sub)
	page := "/console/users/" + mina.Sub
	a := h.do("DELETE", "/api/console/users/"+mina.Sub, root.cookie, "")
	for _, want := range []string{"1 applications and 0 capabilities", "keystile app set CLIENT_ID --owner",
		"keystile capability register MEMBER --owner"} {
		if a.status != 409 || !strings.Contains(a.text, want) {
			t.Errorf("an owner is erased with %d %s, which does not say %q", a.status, a.text, want)
		}
	}
	if u := must(h.store.User(t.Context(), mina.Sub))(t); u.Disabled {
		t.Error("the owner is disabled")
	}
	must(h.store.GiveApp(t.Context(), must(h.store.App(t.Context(), app.ID))(t), root.Sub))(t)
	half := must(h.store.User(t.Context(), mina.Sub))(t)
	half.Disabled, half.Erasing = true, true
	must(h.store.SaveUser(t.Context(), half))(t)
	if text := h.open(page, root.cookie).Body.String(); !strings.Contains(text, "erase once more") ||
		strings.Contains(text, ">Enable<") {
		t.Errorf("a half erased user is shown as %s", text)
	}
	if a := h.do("PATCH", "/api/console/users/"+mina.Sub, root.cookie, `{"disabled":false}`); a.status != 400 || !strings.Contains(a.text, "being erased") {
		t.Errorf("a half erased user is enabled: %d %s", a.status, a.text)
	}
	if a := h.do("DELETE", "/api/console/users/"+mina.Sub, root.cookie, ""); a.status != 200 ||
		a.body.Data["erased"] != true {
		t.Errorf("the second time it is %d %s", a.status, a.text)
	}
}

// The command erases in the process that serves, and has it forget.
func TestNameOfAUserWhoIsErasedElsewhereIsForgotten(t *testing.T) {
	h := newFixture(t)
	root, eve := h.testUser("root", storage.RoleAdmin), h.testUser("eve", "")
	shows := func() bool { return strings.Contains(h.open("/console/sessions", root.cookie).Body.String(), ">eve<") }
	if !shows() {
		t.Fatal("the sessions do not show the name")
	}
	u := must(h.store.User(t.Context(), eve.Sub))(t)
	u.Username = "other" // whatever has become of them
	must(h.store.SaveUser(t.Context(), u))(t)
	if !shows() {
		t.Fatal("the name is read each time: there is nothing to forget")
	}
	if h.console.Forget(eve.Sub); shows() {
		t.Error("the name is shown all the same")
	}
}
