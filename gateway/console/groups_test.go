package console_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/gateway/console"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/groups"
)

func (h *fixture) group(name, label string, managers ...string) groups.Group {
	h.Helper()
	return must(h.store.SaveGroup(h.Context(), groups.Group{Name: name, Label: label, Managers: managers}))(h)
}

func (h *fixture) groupsOf(sub string) (names []string) {
	h.Helper()
	for _, m := range must(h.store.Memberships(h.Context(), sub))(h) {
		names = append(names, m.Group)
	}
	return names
}

func TestManagerWithoutARoleFillsTheGroupOnItsPage(t *testing.T) {
	h := newFixture(t)
	eve, ada := h.testUser("eve", ""), h.testUser("ada", "")
	h.group("ops", "<script>alert(1)</script>", eve.Sub)
	h.group("board", "Board")
	list := h.open("/console/groups", eve.cookie).Body.String()
	if !strings.Contains(list, `href="/console/groups/ops"`) || strings.Contains(list, "board") ||
		strings.Contains(list, `method="post"`) || strings.Contains(list, "<script>alert") {
		t.Errorf("a manager is shown the list %s", list)
	}
	for path, want := range map[string]int{"/console/groups/board": 404, "/console/groups/none": 404,
		"/console/groups/ops/settings": 403, "/console/groups/ops/danger": 403, "/console/users": 403} {
		if w := h.open(path, eve.cookie); w.Code != want {
			t.Errorf("a manager opens %s: %d, want %d", path, w.Code, want)
		}
	}
	page := "/console/groups/ops"
	if code := h.act(page, eve, url.Values{"do": {"add"}, "user": {"ADA"}}); code != 303 ||
		!slices.Equal(h.groupsOf(ada.Sub), []string{"ops"}) {
		t.Errorf("adding a member is %d, and they are in %q", code, h.groupsOf(ada.Sub))
	}
	shown := h.open(page, eve.cookie).Body.String()
	if !strings.Contains(shown, "<bdi>ada</bdi>") || strings.Contains(shown, "/console/users/") ||
		strings.Contains(shown, "/console/groups/ops/settings") || strings.Contains(shown, "data-pick") {
		t.Errorf("a manager is shown the members as %s", shown)
	}
	if code := h.act(page, eve, url.Values{"do": {"add"}, "user": {"nobody"}}); code != 404 {
		t.Errorf("adding nobody is %d", code)
	}
	if code := h.act(page, eve, url.Values{"do": {"remove"}, "ids": {ada.Sub, ada.Sub, "unobody"}}); code != 303 ||
		len(h.groupsOf(ada.Sub)) > 0 {
		t.Errorf("removing a member is %d, and they are in %q", code, h.groupsOf(ada.Sub))
	}
	for _, want := range []string{"group add ops by " + eve.Sub + ": member +" + ada.Sub,
		"group remove ops by " + eve.Sub + ": member -" + ada.Sub} {
		if !strings.Contains(h.trail(), want) {
			t.Errorf("%q is not on the trail %s", want, h.trail())
		}
	}
}

// A manager is one no longer from the moment on that an administrator says so.
func TestFormerManagerIsAnsweredAsAStranger(t *testing.T) {
	h := newFixture(t)
	root, eve, ada := h.testUser("root", storage.RoleAdmin), h.testUser("eve", ""), h.testUser("ada", "")
	h.group("ops", "", eve.Sub)
	h.want(h.do("POST", "/api/console/groups/ops/members", eve.cookie, `{"user":"ada"}`), 200, 1, "as a manager")
	h.act("/console/groups/ops/settings", root, url.Values{"do": {"unmanage"}, "sub": {eve.Sub}})
	h.want(h.do("DELETE", "/api/console/groups/ops/members/"+ada.Sub, eve.cookie, ""), 404, 404, "afterwards")
	h.want(h.call("GET", "/api/console/groups/ops/members", eve.cookie, nil), 404, 404, "reading afterwards")
	if got := h.groupsOf(ada.Sub); !slices.Equal(got, []string{"ops"}) {
		t.Errorf("the member is in %q", got)
	}
	if want := []string{eve.Sub + `: role "" by an administrator: no longer manager of the group ops`}; !slices.Equal(
		h.notices, want) {
		t.Errorf("told is %q", h.notices)
	}
	h.act("/console/groups/ops/settings", root, url.Values{"do": {"manager"}, "user": {"eve"}})
	h.want(h.do("DELETE", "/api/console/groups/ops/members/ada", eve.cookie, ""), 200, 1, "made one again")
}

func TestGroupIsMadeAndDeletedOnThePages(t *testing.T) {
	h := newFixture(t)
	root := h.testUser("root", storage.RoleAdmin)
	if code := h.act("/console/groups", root, url.Values{"do": {"make"}, "name": {"new"}, "label": {"New"}}); code != 303 {
		t.Fatalf("made is %d", code)
	}
	page := "/console/groups/new"
	if body := h.open(page, root.cookie).Body.String(); !strings.Contains(body, "Nobody is in this group.") ||
		!strings.Contains(body, "<bdi>New</bdi>") {
		t.Errorf("the page is %s", body)
	}
	h.act(page+"/settings", root, url.Values{"do": {"set"}, "label": {""}})
	if g := must(h.store.Group(t.Context(), "new"))(t); g.Label != "" {
		t.Errorf("the label is %q", g.Label)
	}
	if code := h.act(page+"/danger", root, url.Values{"do": {"delete"}, "confirm": {"New"}}); code != 400 {
		t.Errorf("deleting it by another name is %d", code)
	}
	if code := h.act(page+"/danger", root, url.Values{"do": {"delete"}, "confirm": {"new"}}); code != 303 ||
		h.open(page, root.cookie).Code != 404 {
		t.Errorf("deleting it is %d", code)
	}
}

func TestListsOfGroupsAndMembersGoOnPageByPage(t *testing.T) {
	h := newFixture(t)
	root, eve := h.testUser("root", storage.RoleAdmin), h.testUser("eve", "")
	for i := range 130 {
		h.group(fmt.Sprintf("team-%03d", i), "", eve.Sub)
		must(h.store.AddMember(t.Context(), "team-000", fmt.Sprintf("u%03d", i)))(t)
	}
	h.group("ops", "")
	for _, c := range []struct {
		path, list, name string
		who              testUser
		pages, want      int
	}{
		{"groups", "groups", "name", root, 2, 131}, {"groups?q=team-", "groups", "name", root, 2, 130},
		{"groups?q=team-12", "groups", "name", root, 1, 10}, {"groups", "groups", "name", eve, 2, 130},
		{"groups?q=TEAM-12", "groups", "name", eve, 2, 10}, {"groups/team-000/members", "members", "sub", root, 2, 130},
		{"groups/team-000/members", "members", "sub", eve, 2, 130},
	} {
		seen, pages, after := map[string]bool{}, 0, ""
		for {
			at, _ := url.Parse("/api/console/" + c.path)
			query := at.Query()
			query.Set("after", after)
			at.RawQuery = query.Encode()
			a := h.want(h.call("GET", at.String(), c.who.cookie, nil), 200, 1, c.path)
			for _, one := range a.body.Data[c.list].([]any) {
				seen[one.(map[string]any)[c.name].(string)] = true
			}
			pages++
			if after = data(a, "next"); after == "" {
				break
			}
		}
		if pages != c.pages || len(seen) != c.want {
			t.Errorf("%s by %s has %d on %d pages, want %d on %d", c.path, c.who.Username, len(seen), pages, c.want, c.pages)
		}
	}
	// The place in one list is none of another, and shows nothing of it.
	other := h.want(h.call("GET", "/api/console/groups", root.cookie, nil), 200, 1, "the first page")
	h.want(h.call("GET", "/api/console/groups?after="+data(other, "next"), eve.cookie, nil), 400, 400, "another's place")
}

func TestAttributesAreOnThePageOfTheUserAndInTheExport(t *testing.T) {
	h := newFixture(t)
	root, aud, eve := h.testUser("root", storage.RoleAdmin), h.testUser("aud", storage.RoleAuditor), h.testUser("eve", "")
	h.group("ops", "")
	must(h.store.AddMember(t.Context(), "ops", eve.Sub))(t)
	page := "/console/users/" + eve.Sub
	h.act(page, root, url.Values{"do": {"attribute"}, "attribute": {"dept"}, "value": {"<b>Sales"}})
	h.act(page, root, url.Values{"do": {"attribute"}, "attribute": {"floor"}, "value": {"3"}})
	h.act(page, root, url.Values{"do": {"unattribute"}, "attribute": {"floor"}})
	if code := h.act(page, root, url.Values{"do": {"attribute"}, "attribute": {"Dept"}, "value": {"x"}}); code != 400 {
		t.Errorf("a name that none is: %d", code)
	}
	for _, who := range []testUser{root, aud} {
		body := h.open(page, who.cookie).Body.String()
		if !strings.Contains(body, "<bdi>&lt;b&gt;Sales</bdi>") || strings.Contains(body, "floor") {
			t.Errorf("%s is shown %s", who.Username, body)
		}
	}
	if body := h.open(page+"/groups", aud.cookie).Body.String(); !strings.Contains(body, `href="/console/groups/ops"`) {
		t.Errorf("the groups of the user are %s", body)
	}
	all := h.want(h.do("POST", "/api/console"+strings.TrimPrefix(page, "/console")+"/export", root.cookie, "{}"), 200, 1,
		"the export")
	if !strings.Contains(all.text, `"attributes":{"dept":"\u003cb\u003eSales"}`) &&
		!strings.Contains(all.text, `"attributes":{"dept":"<b>Sales"}`) || !strings.Contains(all.text, `"group":"ops"`) {
		t.Errorf("the export is %s", all.text)
	}
	if !strings.Contains(h.trail(), "attribute dept none -> set") || strings.Contains(h.trail(), "Sales") {
		t.Errorf("the trail is %s", h.trail())
	}
}

// The users of a host's own table may be in groups, and their names are those of the table.
func TestUsersOfAHostAreMembersToo(t *testing.T) {
	h := newFixture(t, func(c *console.Config) { c.Users, c.Table = nil, host{c.Store} })
	root := h.testUser("root", storage.RoleAdmin)
	h.group("ops", "")
	h.want(h.do("POST", "/api/console/groups/ops/members", root.cookie, `{"user":"h-1"}`), 200, 1, "adding one")
	a := h.want(h.call("GET", "/api/console/groups/ops/members", root.cookie, nil), 200, 1, "the members")
	if !strings.Contains(a.text, `"sub":"h-1","username":"harriet"`) {
		t.Errorf("the members are %s", a.text)
	}
	h.want(h.do("POST", "/api/console/groups/ops/members", root.cookie, `{"user":"h-2"}`), 404, 404, "adding nobody")
	h.want(h.do("DELETE", "/api/console/groups/ops/members/h-1", root.cookie, ""), 200, 1, "removing one")
}

// host is a table of users that has one beside those of the store.
type host struct{ *storage.Store }

func (t host) User(ctx context.Context, sub string) (storage.User, error) {
	if sub == "h-1" {
		return storage.User{Sub: sub, Username: "harriet"}, nil
	}
	return t.Store.User(ctx, sub)
}
