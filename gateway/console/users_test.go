package console_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

func TestUserIsMadeAndSignsIn(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	made := h.want(h.do("POST", "/api/console/users", root.cookie, `{"username":"ada","password":"`+password+`","role":"developer","nickname":"Ada","email":"ada@example.com"}`), 200, 1, "create")
	sub := data(made, "sub")
	if u, err := h.users.Authenticate(t.Context(), "ada", password); err != nil || u.Sub != sub ||
		u.Role != storage.RoleDeveloper || u.EmailVerified {
		t.Errorf("made is %+v, %v", u, err)
	}
	all := h.want(h.call("GET", "/api/console/users", root.cookie, nil), 200, 1, "list")
	one := h.want(h.call("GET", "/api/console/users/"+sub, root.cookie, nil), 200, 1, "show")
	login := must(h.store.Login(t.Context(), storage.LoginSelf, "ada"))(t)
	for _, secret := range []string{password, login.PasswordHash, "argon2"} {
		if strings.Contains(made.text+all.text+one.text+h.trail(), secret) {
			t.Errorf("%q leaves the console", secret)
		}
	}
	if !strings.Contains(all.text, sub) || !strings.Contains(all.text, root.Sub) || data(one, "nickname") != "Ada" {
		t.Errorf("shown are %s %s", all.text, one.text)
	}
	if !strings.Contains(h.trail(), "user create "+sub+" by "+root.Sub+`: username "" -> "ada"; role "" -> "developer"`) {
		t.Errorf("the trail is %s", h.trail())
	}
	h.want(h.call("GET", "/api/console/users/unobody", root.cookie, nil), 404, 404, "a user who is not there")
	h.want(h.do("PATCH", "/api/console/users/unobody", root.cookie, `{"role":""}`), 404, 404, "changing one")
}

// Sessions and grants that were begun with other powers do not go on.
func TestUserChangeOfRoleOrDisablingEndsSessionsAndGrants(t *testing.T) {
	for body, notices := range map[string]string{`{"role":"admin"}`: "role is admin now", `{"role":""}`: "role taken away", `{"disabled":true}`: "disabled"} {
		h := newFixture(t)
		root, mina := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper)
		h.want(h.call("GET", "/api/console/apps", mina.cookie, nil), 200, 1, "before")
		h.want(h.do("PATCH", "/api/console/users/"+mina.Sub, root.cookie, `{"nickname":"M"}`), 200, 1, "another nickname")
		h.want(h.call("GET", "/api/console/apps", mina.cookie, nil), 200, 1, "with another nickname")
		h.want(h.do("PATCH", "/api/console/users/"+mina.Sub, root.cookie, body), 200, 1, body)
		h.want(h.call("GET", "/api/console/apps", mina.cookie, nil), 401, 401, "after "+body)
		rs := must(h.store.Revocations(t.Context(), 0, 10))(t)
		if len(rs) != 1 || rs[0].Kind != driver.RevokeUser || rs[0].ID != mina.Sub {
			t.Errorf("%s: revoked is %+v", body, rs)
		}
		h.want(h.call("GET", "/api/console/apps", root.cookie, nil), 200, 1, "somebody else")
		if !slices.Equal(h.notices, []string{mina.Sub + `: role "" by an administrator: ` + notices}) {
			t.Errorf("%s: told is %q", body, h.notices)
		}
		if !strings.Contains(h.trail(), "user set "+mina.Sub+" by "+root.Sub+": ") {
			t.Errorf("%s: the trail is %s", body, h.trail())
		}
	}
}

// A process may be killed when it has disabled somebody and not ended their sessions.
func TestUserEnabledAgainSignsInAgain(t *testing.T) {
	h := newFixture(t)
	root, mina := h.testUser("root", storage.RoleAdmin), h.testUser("mina", storage.RoleDeveloper)
	u := must(h.store.User(t.Context(), mina.Sub))(t)
	u.Disabled = true
	must(h.store.SaveUser(t.Context(), u))(t)
	h.want(h.do("PATCH", "/api/console/users/"+mina.Sub, root.cookie, `{"disabled":false}`), 200, 1, "enable")
	h.want(h.call("GET", "/api/console/apps", mina.cookie, nil), 401, 401, "with the session from before")
	if rs := must(h.store.Revocations(t.Context(), 0, 10))(t); len(rs) != 1 || rs[0].Kind != driver.RevokeUser ||
		rs[0].ID != mina.Sub {
		t.Errorf("revoked is %+v", rs)
	}
	h.want(h.do("PATCH", "/api/console/users/"+mina.Sub, root.cookie, `{"disabled":false}`), 200, 1, "enable once more")
	if rs := must(h.store.Revocations(t.Context(), 1, 10))(t); len(rs) != 0 {
		t.Errorf("enabling who is enabled revoked %+v", rs)
	}
}

func TestLastAdministratorStays(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	for _, body := range []string{`{"role":""}`, `{"role":"developer"}`, `{"disabled":true}`} {
		a := h.want(h.do("PATCH", "/api/console/users/"+root.Sub, root.cookie, body), 400, 400, body)
		if !strings.Contains(a.body.Msg, "only administrator") {
			t.Errorf("%s says %s", body, a.text)
		}
	}
	other := h.testUser("other", storage.RoleAdmin)
	var both sync.WaitGroup
	answers := make([]answer, 2)
	for i, p := range []testUser{root, other} {
		them := []testUser{other, root}[i]
		both.Go(func() { answers[i] = h.do("PATCH", "/api/console/users/"+them.Sub, p.cookie, `{"role":""}`) })
	}
	both.Wait()
	left := 0
	for _, p := range []testUser{root, other} {
		if must(h.store.User(t.Context(), p.Sub))(t).Role == storage.RoleAdmin {
			left++
		}
	}
	if left != 1 {
		t.Errorf("%d administrators are left after both took the role from each other: %+v", left, answers)
	}
}
