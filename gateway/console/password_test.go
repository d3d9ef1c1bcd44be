package console_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

func TestAdministratorGivesANewPassword(t *testing.T) {
	h := newFixture(t)
	root, eve, aud := h.testUser("root", storage.RoleAdmin), h.testUser("eve", ""), h.testUser("aud", storage.RoleAuditor)
	path, page := "/api/console/users/"+eve.Sub+"/password", "/console/users/"+eve.Sub

	if a := h.do("POST", path, aud.cookie, "{}"); a.status != 403 {
		t.Errorf("an auditor gives a password with %d", a.status)
	}
	if a := h.do("POST", "/api/console/users/"+root.Sub+"/password", root.cookie, "{}"); a.status != 409 {
		t.Errorf("an administrator gives themselves one with %d", a.status)
	}
	other := must(h.store.CreateUser(t.Context(), storage.User{Username: "wx-eve"}))(t)
	if a := h.do("POST", "/api/console/users/"+other.Sub+"/password", root.cookie, "{}"); a.status != 409 {
		t.Errorf("who signs in otherwise gets one with %d", a.status)
	}
	if _, err := h.users.Authenticate(t.Context(), "eve", password); err != nil || len(h.events) != 0 ||
		len(h.notices) != 0 {
		t.Fatalf("refused acts changed something: %v, %v, %v", err, h.events, h.notices)
	}

	a := h.do("POST", path, root.cookie, "{}")
	fresh, _ := a.body.Data["password"].(string)
	if a.status != 200 || len(fresh) < 20 {
		t.Fatalf("a new password is %d %v", a.status, a.body)
	}
	if _, err := h.users.Authenticate(t.Context(), "eve", password); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the old password says %v", err)
	}
	if u, err := h.users.Authenticate(t.Context(), "eve", fresh); err != nil || u.Sub != eve.Sub {
		t.Errorf("the new password says %v", err)
	}
	for _, v := range must(h.store.Sessions(t.Context(), eve.Sub))(t) {
		t.Errorf("the session %s goes on", v.ID)
	}
	if want := "user password " + eve.Sub + " by " + root.Sub; !strings.Contains(h.trail(), want) ||
		strings.Contains(h.trail(), fresh) {
		t.Errorf("the trail is %s", h.trail())
	}
	if told := strings.Join(h.notices, " "); len(h.notices) != 1 || !strings.Contains(told, eve.Sub) ||
		strings.Contains(told, fresh) {
		t.Errorf("the user was told %s", told)
	}

	form := url.Values{"do": {"password"}, "form": {h.formOn(h.open(page, root.cookie))}}
	w := h.send(page, root.cookie, form)
	if w.Code != 200 || !strings.Contains(w.Body.String(), "data-copy>") || strings.Contains(w.Body.String(), fresh) {
		t.Errorf("the page shows %d %s", w.Code, w.Body)
	}
}
