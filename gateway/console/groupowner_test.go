package console_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/gateway/console"
)

// giveToTeam gives what somebody of a role has to the group that they manage.
func (s *scene) giveToTeam(role string) {
	s.Helper()
	mine := s.own[role]
	team := "group:" + mine["group"]
	must(s.store.GiveApp(s.Context(), must(s.store.App(s.Context(), mine["client_id"]))(s), team))(s)
	c, tools, err := s.store.Tools(s.Context(), mine["member"])
	if err != nil {
		s.Fatal(err)
	}
	c.Owner = team
	must(s.store.SaveCapability(s.Context(), c, tools))(s)
	s.written.since()
}

// A manager is answered by every page, act and endpoint as the owner is of whom the table of rights speaks. Somebody
// who is a member and manages it no more is answered as a stranger, from the next request on.
func TestManagerIsAnsweredAsTheOwnerOfWhatTheirGroupHas(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	want := rights(t)
	asks := 0
	for _, q := range served(console.Parts(newScene(t).console)) {
		if !ownable(q) {
			continue
		}
		asks++
		for _, role := range []string{"owner", "developer"} {
			column := slices.Index(roles, role)
			s := newScene(t)
			s.giveToTeam(role)
			if cell, owners := s.outcome(s.sends(q, role, role)), want[q.name()+" own"][column]; cell != owners {
				t.Errorf("%s as a manager with the rights of %s: %s, and an owner has %s", q.name(), role, cell, owners)
			}
			s = newScene(t)
			s.giveToTeam(role)
			team := must(s.store.Group(t.Context(), s.own[role]["group"]))(t)
			team.Managers = nil
			must(s.store.SaveGroup(t.Context(), team))(t)
			s.written.since()
			if cell, others := s.outcome(s.sends(q, role, role)), want[q.name()+" other"][column]; cell != others {
				t.Errorf("%s as a member with the rights of %s: %s, and a stranger has %s", q.name(), role, cell, others)
			}
		}
	}
	if asks < 60 {
		t.Errorf("only %d pages, acts and endpoints are about what somebody can own", asks)
	}
}

// ownable reports whether a request is about an application, an order or a capability.
func ownable(q request) bool {
	text := q.path + bodies[q.name()]
	return slices.ContainsFunc([]string{"{client_id}", "{order_id}", "{member}"}, func(word string) bool {
		return strings.Contains(text, word)
	})
}
