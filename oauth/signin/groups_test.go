package signin

import (
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage/groups"
)

// A provider's groups are joined and left at each sign-in, before the user is let in. Whom somebody has added by hand
// stays.
func TestProviderPutsItsUsersIntoGroups(t *testing.T) {
	var noted fakeAudit
	rm := newBadgeFixture(t, func(c *Config) { c.Audit = &noted })
	sub := ""
	arrives := func(number string, want ...string) {
		t.Helper()
		a := rm.pass(rm.do(get(web.WithPath+"badge")), number)
		if a.Code != 303 || a.cookie() == "" {
			t.Fatalf("%s: %d %s", number, a.Code, a.body)
		}
		v, err := rm.store.Session(t.Context(), handle.Hash(a.cookie()))
		must(t, err)
		sub = v.UserID
		in, err := rm.store.GroupsOf(t.Context(), sub)
		must(t, err)
		var names []string
		for _, g := range in {
			names = append(names, g.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s: in %q, want %q", number, names, want)
		}
	}
	arrives("7")
	arrives("7&groups=ops+dev", "dev", "ops")
	for _, name := range []string{"ops", "dev"} {
		if _, err := rm.store.Group(t.Context(), name); err != nil {
			t.Errorf("the group %s was not made: %v", name, err)
		}
	}
	arrives("7", "dev", "ops") // it says nothing of groups
	arrives("7&groups=ops+No:Group", "ops")
	_, err := rm.store.SaveGroup(t.Context(), groups.Group{Name: "own"})
	must(t, err)
	_, err = rm.store.AddMember(t.Context(), "own", sub)
	must(t, err)
	arrives("7&groups=", "own")
	var said []string
	for _, note := range noted.notes {
		if _, detail, found := strings.Cut(note, "groups by badge: "); found {
			said = append(said, detail)
		}
	}
	if want := []string{" -> dev, ops", "dev, ops -> ops", "ops -> "}; !slices.Equal(said, want) {
		t.Errorf("the trail says %q, want %q", said, want)
	}
}
