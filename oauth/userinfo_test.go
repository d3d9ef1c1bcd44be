package oauth_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/storage"
)

// saveUser changes the fixture's user in the store.
func (h *fixture) saveUser(edit func(*storage.User)) {
	h.Helper()
	u := must(h.store.User(context.Background(), h.user.Sub))(h.TB)
	edit(&u)
	h.user = must(h.store.SaveUser(context.Background(), u))(h.TB)
}

func TestChangedUserCountsAtUserInfoAtOnce(t *testing.T) {
	h := newFixture(t)
	bearer := h.exchange(h.code("scope", "openid profile")).tokens(t).text("access_token")
	for _, step := range []struct {
		what     string
		edit     func(*storage.User)
		status   int
		nickname string
	}{
		{"nothing has changed", func(*storage.User) {}, 200, "Ada"},
		{"another name", func(u *storage.User) { u.Nickname = "Countess" }, 200, "Countess"},
		{"a disabled user", func(u *storage.User) { u.Disabled = true }, 401, ""},
		{"an enabled one", func(u *storage.User) { u.Disabled = false }, 200, "Countess"},
	} {
		h.saveUser(step.edit)
		for range 2 {
			if a := h.userInfo(bearer); a.status != step.status || a.text("nickname") != step.nickname {
				t.Errorf("%s: userinfo = %d %v, want %d %s", step.what, a.status, a.body, step.status, step.nickname)
			}
		}
	}
}

// hostTable is a user table of a host's, which tells nobody of what changes in it.
type hostTable struct{ user storage.User }

func (h *hostTable) User(_ context.Context, sub string) (storage.User, error) {
	if sub != h.user.Sub {
		return storage.User{}, storage.ErrNotFound
	}
	return h.user, nil
}

func TestHostsOwnUsersAreAskedEachTime(t *testing.T) {
	host := new(hostTable)
	h := newFixture(t, func(c *oauth.Config) { c.Users = host })
	host.user = h.user
	bearer := h.exchange(h.code("scope", "openid profile")).tokens(t).text("access_token")
	for _, name := range []string{"Ada", "Countess"} {
		host.user.Nickname = name
		if a := h.userInfo(bearer); a.status != 200 || a.text("nickname") != name {
			t.Errorf("userinfo = %d %v, want %s", a.status, a.body, name)
		}
	}
	host.user.Disabled = true
	if a := h.userInfo(bearer); a.status != 401 {
		t.Errorf("userinfo of a disabled user = %d %v", a.status, a.body)
	}
}

func TestUsersOfTheStoreAreReadOnceForUserInfo(t *testing.T) {
	h := newFixture(t)
	bearer := h.exchange(h.code()).tokens(t).text("access_token")
	h.userInfo(bearer)
	if got := h.calls.during(func() { h.userInfo(bearer) }); len(got) != 0 {
		t.Errorf("userinfo again makes the calls %v, want none", got)
	}
}

// The cost of a verified bearer beside the transport; more would be one more for each request.
func TestUserInfoTakesFewAllocations(t *testing.T) {
	h := newFixture(t)
	c := newCall("GET", "/oauth/userinfo", "")
	c.header.Set("Authorization", "Bearer "+h.exchange(h.code()).tokens(t).text("access_token"))
	if n := testing.AllocsPerRun(100, func() { c.do(t, h.server, http.StatusOK) }); n > maxUserInfoAllocs {
		t.Errorf("userinfo takes %v allocations, want at most %d", n, maxUserInfoAllocs)
	}
}

const maxUserInfoAllocs = 4 // two of them are the test's own
