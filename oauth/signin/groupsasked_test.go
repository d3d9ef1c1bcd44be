package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/keystile/keystile/oauth/signin/internal/consent"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/groups"
)

// GroupsOf fails with the error of a field.
func (f *flaky) GroupsOf(ctx context.Context, sub string) ([]access.Group, error) {
	if f.groups != nil {
		return nil, f.groups
	}
	return f.Store.GroupsOf(ctx, sub)
}

// Users see what an application would learn, not what it asks for.
func TestConsentPageSaysWhichGroupsAnApplicationWouldSee(t *testing.T) {
	rm := newFixture(t, nil)
	says := func(what, english, chinese string, filter ...string) {
		t.Helper()
		app, err := rm.store.App(t.Context(), "ksacme")
		must(t, err)
		app.GroupFilter = filter
		_, err = rm.store.SaveApp(t.Context(), app)
		must(t, err)
		for _, x := range []struct{ query, want string }{{"", english}, {"&ui_locales=zh-CN", chinese}} {
			if a := rm.askConsent(authorizeQuery+x.query, "openid groups"); !strings.Contains(a.body, "<li>"+x.want+"</li>") {
				t.Errorf("%s: the page lacks %q: %s", what, x.want, a.body)
			}
		}
	}
	join := func(names ...string) {
		t.Helper()
		for _, name := range names {
			_, err := rm.store.SaveGroup(t.Context(), groups.Group{Name: name})
			must(t, err)
			_, err = rm.store.AddMember(t.Context(), name, rm.mina.Sub)
			must(t, err)
		}
	}
	says("no group", "See which groups you are in, at present none that it learns of",
		"查看您所属的用户组，目前没有可告知该应用的用户组")
	join("ops", "team-a", "team-b")
	says("three groups", "See which groups you are in, at present: ops, team-a, team-b",
		"查看您所属的用户组，目前为：ops, team-a, team-b")
	says("two of the filter", "See which groups you are in, at present: team-a, team-b",
		"查看您所属的用户组，目前为：team-a, team-b", "team-*")
	says("none of the filter", "See which groups you are in, at present none that it learns of",
		"查看您所属的用户组，目前没有可告知该应用的用户组", "dev")
	for i := range 8 {
		join(fmt.Sprint("more", i))
	}
	says("many groups", "See which groups you are in, at present 11 of them", "查看您所属的用户组，目前共 11 个")
	if a := rm.askConsent(authorizeQuery, "openid profile"); strings.Contains(a.body, "groups") {
		t.Error("an application that does not ask for groups is said to see them")
	}
}

func TestConsentIsNotAskedForWhereTheGroupsCannotBeRead(t *testing.T) {
	rm := newFixture(t, nil)
	rm.store.groups = errDown
	err := rm.AskConsent(httptest.NewRecorder(), get("/oauth/authorize?"+authorizeQuery), storage.App{ID: "ksacme"},
		storage.Session{UserID: rm.mina.Sub}, "openid groups")
	if !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("asking: %v", err)
	}
}

func TestGroupsAreAllowedByNameAndRemembered(t *testing.T) {
	rm := newFixture(t, nil)
	cookie := rm.enterMina()
	if a := rm.do(sends(consent.Path, "cookie", cookie, "query", authorizeQuery, "user", rm.mina.Sub, "scope",
		"openid groups", "allow", "1")); a.Code != 303 {
		t.Fatalf("allow = %d", a.Code)
	}
	for scope, want := range map[string]bool{"openid groups": true, "groups": true, "openid profile": false} {
		if got := rm.allowed(scope); got != want {
			t.Errorf("Allowed(%q) = %v, want %v", scope, got, want)
		}
	}
}
