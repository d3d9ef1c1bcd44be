package groups

import (
	"embed"
	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/groupacts"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

//go:embed *.html
var pages embed.FS

var (
	listPage     = ui.Parse(pages, "list.html")
	membersPage  = ui.Parse(pages, "members.html")
	settingsPage = ui.Parse(pages, "settings.html")
	dangerPage   = ui.Parse(pages, "danger.html")
)

// Why a request about a group, or a member of one, is refused.
var (
	// protocol 7
	noGroup = &reply.Failure{Status: 404, Msg: "no such group: see GET /api/console/groups for those there are"}
	// protocol 7
	noMember = &reply.Failure{Status: 404, Msg: "the user is not a member of this group: see its list of members"}
	// protocol 7
	notChosen = &reply.Failure{Status: 400, Msg: "choose at least one, and at most 100"}
	// decision 57
	notNamed = &reply.Failure{Status: 400, Msg: "type the name of the group exactly, to delete it"}
)

// Config holds what New needs.
type Config struct {
	Store  *storage.Store // what is read
	Acts   *groupacts.Acts
	Names  *ui.Names
	Finder *ui.Finder
}

// Groups is this part of the console.
type Groups struct{ c Config }

// New makes Groups.
func New(c Config) *Groups { return &Groups{c} }

const (
	api  = "/api/console/groups"
	html = "/console/groups"
	one  = html + "/{group}"
)

// tabs are those of a group.
var tabs = []ui.Tab{{Title: "Members", Path: one}, {Title: "Settings", Path: one + "/settings"},
	{Title: "Danger", Path: one + "/danger"}}

// Part returns the endpoints and pages. Those that are Owned are for managers too, who need no role.
func (s *Groups) Part() ui.Part {
	type by = map[string]ui.Action
	administrator := []consoleauth.Check{admin.Actor.Admin}
	return ui.Part{
		Texts: texts,
		APIs: []ui.API{
			{Path: api, Owned: true, Methods: by{"GET": s.list, "POST": s.create}, Changes: administrator},
			{Path: api + "/{group}", Owned: true, Changes: administrator,
				Methods: by{"GET": s.show, "PATCH": s.change, "DELETE": s.remove}},
			{Path: api + "/{group}/members", Owned: true, Methods: by{"GET": s.members, "POST": s.addMember}},
			{Path: api + "/{group}/members/{sub}", Owned: true, Methods: by{"DELETE": s.removeMember}},
		},
		Pages: s.pages(administrator),
	}
}

func (s *Groups) pages(administrator []consoleauth.Check) []ui.Page {
	type acts = map[string]ui.Act
	type fields = map[string]ui.Kind
	act := func(says string, do ui.Action, done string, names fields) ui.Act {
		return ui.Act{Says: says, Do: do, May: administrator, Done: done, Fields: names}
	}
	made := act("Make a group", s.create, "The group was made.", fields{"name": ui.Text, "label": ui.Optional})
	made.To = func(result any, _ string) string { return html + "/" + result.(groupRecord).Name }
	remove := act("Delete a group", s.removeNamed, "The group was deleted.", fields{"confirm": ui.Text})
	remove.To = func(any, string) string { return html }
	return []ui.Page{
		{Path: html, Title: "Groups", Section: "People", Owned: true, Get: s.list, Template: listPage,
			Acts: acts{"make": made}},
		{Path: one, Title: "Group", Owned: true, Get: s.members, Template: membersPage, Names: named, Tabs: tabs,
			Acts: acts{
				"add": {Says: "Add a member to a group", Do: s.addMember, Done: "The member was added.",
					Fields: fields{"user": ui.Text}},
				"remove": {Says: "Remove members from a group", Do: s.removeChosen, Done: "The members were removed.",
					Fields: fields{"ids": ui.Choices}},
			}},
		{Path: one + "/settings", Title: "Settings", May: []consoleauth.Check{admin.Actor.Reader}, Get: s.show,
			Template: settingsPage, Names: named, Tabs: tabs, Acts: acts{
				"set": act("Change the label of a group", s.change, "The change was made.", fields{"label": ui.Text}),
				"manager": act("Give a group a manager", s.addManager, "The manager was added.",
					fields{"user": ui.Text}),
				"unmanage": act("Take a manager from a group", s.dropManager, "The manager was removed.",
					fields{"sub": ui.Text}),
			}},
		{Path: one + "/danger", Title: "Danger", May: administrator, Get: s.show, Template: dangerPage, Tabs: tabs,
			Acts: acts{"delete": remove}},
	}
}

// named returns the users whom a page names.
func named(data any) (_, users []string) {
	switch data := data.(type) {
	case groupRecord:
		users = data.Managers
	case memberList:
		users = data.Group.Managers
	}
	return nil, users
}
