package admin

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

func TestSigningOutEverywhereEndsSessionsAndGrants(t *testing.T) {
	for name, c := range map[string]struct{ words []string }{
		"session end":  {[]string{"session", "end", "ADA"}},
		"user disable": {[]string{"user", "disable", "ada"}},
		"new password": {[]string{"user", "set", "ada", "--password", "another horse"}},
		"another role": {[]string{"user", "set", "ada", "--role", "developer"}},
	} {
		for _, served := range []bool{false, true} {
			o := newOffice(t)
			server := &provider{}
			if served {
				o.target.Provider = server
				o.serve()
			}
			ada, bob := o.user("ada"), o.user("bob")
			o.session(ada)
			o.session(ada)
			others := o.session(bob)
			began := time.Now()
			v := o.must(c.words...)
			rs := append(o.revocations(), server.revoked...)
			if len(rs) != 1 || rs[0].Kind != driver.RevokeUser || rs[0].ID != ada || served != rs[0].Before.IsZero() ||
				!served && (rs[0].Before.Before(began) || rs[0].Before.After(time.Now())) {
				t.Errorf("%s, served %t: revoked %+v", name, served, rs)
			}
			if served != (len(server.revoked) == 1) {
				t.Errorf("%s: the running provider heard %+v, want that only if it is served: %t", name, server.revoked, served)
			}
			if v["sessions_ended"] != 2.0 || len(o.rows("session", "list", "ada")) != 0 {
				t.Errorf("%s, served %t: printed %v", name, served, v)
			}
			if rows := o.rows("session", "list", bob); len(rows) != 1 || rows[0]["id"] != others {
				t.Errorf("%s: somebody else's sessions: %v", name, rows)
			}
		}
	}
}

func TestDisabledUserComesBackOnlyByEnable(t *testing.T) {
	o := newOffice(t)
	sub := o.user("ada")
	o.must("user", "disable", sub)
	if u, _ := o.target.Store.User(t.Context(), sub); !u.Disabled {
		t.Error("disabled, the user is not")
	}
	o.must("user", "set", "ada", "--password", "another horse")
	if rows := o.rows("user", "list"); len(rows) != 1 || rows[0]["disabled"] != true {
		t.Errorf("a new password let the user back in: %v", rows)
	}
	o.must("user", "enable", "ada")
	if u, err := o.users.Authenticate(t.Context(), "ada", "another horse"); err != nil || u.Sub != sub {
		t.Errorf("enabled again: %+v, %v", u, err)
	}
	if _, err := o.users.Authenticate(t.Context(), "ada", "correct horse"); err == nil {
		t.Error("the old password is still one")
	}
}

// A process may be killed when it has disabled somebody and not ended their sessions.
func TestEnableEndsWhatWasBegunBefore(t *testing.T) {
	o := newOffice(t)
	sub := o.user("ada")
	o.session(sub)
	u, err := o.target.Store.User(t.Context(), sub)
	if err == nil {
		u.Disabled = true
		_, err = o.target.Store.SaveUser(t.Context(), u)
	}
	if err != nil {
		t.Fatal(err)
	}
	o.must("user", "enable", "ada")
	if rows := o.rows("session", "list", sub); len(rows) != 0 {
		t.Errorf("a session from before is there: %v", rows)
	}
	if rs := o.revocations(); len(rs) != 1 || rs[0].Kind != driver.RevokeUser || rs[0].ID != sub {
		t.Errorf("revoked: %+v", rs)
	}
}

func TestPartOfAUserCanBeChangedAlone(t *testing.T) {
	o := newOffice(t)
	sub := o.user("ada")
	for _, c := range []struct {
		words []string
		want  func(storage.User) bool
	}{
		{[]string{"--role", "admin"}, func(u storage.User) bool { return u.Role == "admin" }},
		{[]string{"--name", "Ada L", "--nickname", "Ada"},
			func(u storage.User) bool { return u.Name == "Ada L" && u.Nickname == "Ada" && u.Role == "admin" }},
		{[]string{"--email", "a@example.com", "--email-verified"},
			func(u storage.User) bool { return u.Email == "a@example.com" && u.EmailVerified }},
		{[]string{"--email", "a@example.com"}, func(u storage.User) bool { return u.EmailVerified }},
		{[]string{"--email", "b@example.com"},
			func(u storage.User) bool { return u.Email == "b@example.com" && !u.EmailVerified }},
		{[]string{"--nickname="}, func(u storage.User) bool { return u.Nickname == "" && u.Name == "Ada L" }},
		{[]string{"--role", "none"}, func(u storage.User) bool { return u.Role == "" }},
	} {
		before := o.revocations()
		o.must(append([]string{"user", "set", "ada"}, c.words...)...)
		if ended := !slices.Equal(before, o.revocations()); ended != (c.words[0] == "--role") {
			t.Errorf("%q ends what was granted: %t", c.words, ended)
		}
		if u, err := o.target.Store.User(t.Context(), sub); err != nil || !c.want(u) {
			t.Errorf("after %q: %+v, %v", c.words, u, err)
		}
	}
	o.wantFailure(2, "changes nothing", "user", "set", "ada")
	o.wantFailure(2, "role", "user", "set", "ada", "--role", "king")
	o.wantFailure(2, "at least 8", "user", "set", "ada", "--name", "X", "--password", "short")
	if u, _ := o.target.Store.User(t.Context(), sub); u.Name != "Ada L" {
		t.Error("half of a refused change was made")
	}
}

func TestUserIsNamedWhole(t *testing.T) {
	o := newOffice(t)
	sub := o.user("ada")
	for _, words := range [][]string{{"user", "disable"}, {"user", "enable"}, {"session", "end"}, {"session", "list"}} {
		o.wantFailure(1, "there is no user", append(words, "ad")...)
		o.wantFailure(1, "there is no user", append(words, sub[:10])...)
	}
}

// Somebody may choose another one's sub for a name.
func TestSubIsNobodysName(t *testing.T) {
	o := newOffice(t)
	ada := o.user("ada")
	o.user(ada)
	if v := o.must("user", "disable", ada); v["username"] != "ada" {
		t.Errorf("disabled %v", v)
	}
}

// A user who came by a provider has the username that user list shows, and no way to sign in by it.
func TestUserOfAProviderIsFoundByUsername(t *testing.T) {
	o := newOffice(t)
	made := func(username, subject string) string {
		u, err := o.target.Store.CreateUser(t.Context(), storage.User{Username: username},
			storage.Login{Method: "wx", Subject: subject})
		if err != nil {
			t.Fatal(err)
		}
		return u.Sub
	}
	sub := made("wx_Oika4j54b7", "one")
	made("wx_oika4j54b7x", "two")
	app := o.must("app", "create", "--name", "Shop", "--domain", "a.example")["client_id"].(string)
	o.session(sub)
	for _, words := range []string{"session list wx_oika4j54b7", "user set wx_oika4j54b7 --nickname Oi",
		"user disable WX_OIKA4J54B7", "user enable wx_oika4j54b7", "apikey list wx_oika4j54b7",
		"app set " + app + " --owner wx_oika4j54b7", "user factors wx_oika4j54b7",
		"capability access --who wx_oika4j54b7", "session end wx_oika4j54b7"} {
		if code, _, errs := o.run("", strings.Fields(words)...); code != 0 {
			t.Errorf("keystile %s: %d %s", words, code, errs)
		}
	}
	if a, err := o.target.Store.App(t.Context(), app); err != nil || a.Owner != sub {
		t.Errorf("the owner is %q, %v; want %q", a.Owner, err, sub)
	}
	if u, err := o.target.Store.User(t.Context(), sub); err != nil || u.Nickname != "Oi" || u.Disabled {
		t.Errorf("the user is %+v, %v", u, err)
	}
	for _, nobody := range []string{"wx_oika", "Oi", "", " "} { // the beginning of a name, and a nickname
		if code, _, errs := o.run("", "session", "list", nobody); code == 0 || !strings.Contains(errs, "there is no user") {
			t.Errorf("%q is somebody: %d %s", nobody, code, errs)
		}
	}
	twin := made("wx_oika4j54b7", "three")
	if _, _, errs := o.run("", "user", "disable", "wx_oika4j54b7"); !strings.Contains(errs, "2 users") ||
		!strings.Contains(errs, twin) || !strings.Contains(errs, sub) {
		t.Errorf("of two with one name it says %s", errs)
	}
	o.must("user", "disable", twin)
}
