package registry_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
)

// Decision 57.
func TestRemovingOrReplacingACapabilityTakesARecentSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newFixture(t)
		mina, root := h.developer("mina"), h.visitor(h.user("root", storage.RoleAdmin))
		h.want(h.register(mina, standard("one", "t")), 200, 1, "a registration")
		h.want(h.register(mina, standard("two", "t")), 200, 1, "a registration")
		time.Sleep(10 * time.Minute)
		h.want(h.request("DELETE", all+"/one", mina, nil), 200, 1, "a removal ten minutes after the sign-in")
		time.Sleep(time.Second)
		received := len(h.events)
		for _, cookie := range []string{mina, root} {
			a := h.want(h.request("DELETE", all+"/two", cookie, nil), 403, 4031, "a removal later than that")
			if a.body.Errcode != 4031 || !strings.Contains(a.body.Msg, "10 minutes") ||
				!strings.Contains(a.body.Msg, "/oauth/signin") {
				t.Errorf("it is refused with %s, want the way to sign in again", a.text)
			}
		}
		if h.stored("two") == "" || len(h.events) != received {
			t.Error("it is removed, or the trail says so")
		}
		h.want(h.request("GET", all+"/two", mina, nil), 200, 1, "a look at it")
		before := h.stored("two")
		for name, cookie := range map[string]string{"the owner": mina, "an administrator": root} {
			a := h.want(h.register(cookie, `{"auth_type":"bearer","auth_secret":"new",`+standard("two", "u")[1:]), 403, 4031, "a registration in its place by "+name)
			if a.body.Errcode != 4031 || h.stored("two") != before {
				t.Errorf("it is refused with %s, and stored is %s", a.text, h.stored("two"))
			}
		}
		h.want(h.register(h.developer("eve"), standard("two", "u")), 403, 403, "somebody else's registration of it")
		h.want(h.register(mina, standard("three", "t")), 200, 1, "a new registration")
	})
}

func TestSignInOfTheFutureIsNotRecent(t *testing.T) {
	h := newFixture(t)
	mina := h.user("mina", storage.RoleDeveloper)
	cookie, now := handle.NewCookie(), time.Now()
	must(h.store.SaveSession(t.Context(), storage.Session{
		ID: handle.Hash(cookie), UserID: mina.Sub, AuthTime: now.Add(time.Hour), ExpiresAt: now.Add(24 * time.Hour),
		EndsAt: now.Add(24 * time.Hour),
	}))(t)
	h.want(h.register("open_sso_token="+cookie, standard("one", "t")), 200, 1, "a registration")
	h.want(h.request("DELETE", all+"/one", "open_sso_token="+cookie, nil), 403, 4031, "a removal")
}
