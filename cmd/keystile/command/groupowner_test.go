package command

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/groups"
)

// giveToTeam gives an object to a new group of which somebody is a member, and a manager or not, and leaves no rule by
// which they may use a tool without that.
func (w *world) giveToTeam(o object, p human, manages bool) {
	team := groups.Group{Name: w.own + "-team"}
	if manages {
		team.Managers = []string{p.Sub}
	}
	_, err := w.store.SaveGroup(w.Context(), team)
	fatal(w, err)
	_, err = w.store.AddMember(w.Context(), team.Name, p.Sub)
	fatal(w, err)
	w.b.Bus.Forget(p.Sub) // which groups they manage was read when they were asked for consent
	owner := "group:" + team.Name
	app, err := w.store.App(w.Context(), o.app.ID)
	fatal(w, err)
	_, err = w.store.GiveApp(w.Context(), app, owner)
	fatal(w, err)
	if o.member == "" {
		return
	}
	c, tools, err := w.store.Tools(w.Context(), o.member)
	fatal(w, err)
	c.Owner = owner
	_, err = w.store.SaveCapability(w.Context(), c, tools)
	fatal(w, err)
	list, err := w.store.Access(w.Context(), o.member)
	fatal(w, err)
	list.Rules = []access.Rule{{Subject: "user:nobody"}}
	_, err = w.store.SaveAccess(w.Context(), list)
	fatal(w, err)
	fatal(w, w.b.Bus.Reload(w.Context()))
}

// notShown drops from a cell what the answer shows.
var notShown = strings.NewReplacer("o", "", "e", "")

// A manager has at the things of their group what the table says of an owner. A member who manages it not has what the
// table says of a stranger.
func TestKeyOfAManagerOpensWhatAnOwnersOpens(t *testing.T) {
	if testing.Short() {
		t.Skip("tries keys at each endpoint that is about what somebody owns")
	}
	want := readAuthority(t)
	asked := 0
	for _, row := range rows {
		text := row.path + row.query + row.body
		if !row.about || strings.HasPrefix(row.path, "/oauth") || !strings.Contains(text, "{client_id}") &&
			!strings.Contains(text, "{order_id}") && !strings.Contains(text, "{member}") {
			continue
		}
		asked++
		t.Run(row.name("managed"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				for i, c := range credentials {
					if !slices.Contains([]string{"tools", "apps", "bus", "visitor", "visitor-", "dev", "dev-"}, c.name) {
						continue
					}
					w.team = func(o object, p human) { w.giveToTeam(o, p, true) }
					if cell, owners := w.ask(c, row, "own"), want[row.name("own")][i]; cell != owners {
						t.Errorf("%s, a manager: %s, and an owner has %s", c.name, cell, owners)
					}
					w.team = func(o object, p human) { w.giveToTeam(o, p, false) }
					// Each page shows who is signed in, so what else it shows is not compared.
					cell, others := notShown.Replace(w.ask(c, row, "own")), notShown.Replace(want[row.name("other")][i])
					if cell != others {
						t.Errorf("%s, a member: %s, and a stranger has %s", c.name, cell, others)
					}
				}
			})
		})
	}
	if asked < 30 {
		t.Errorf("only %d endpoints are about what somebody can own", asked)
	}
}
