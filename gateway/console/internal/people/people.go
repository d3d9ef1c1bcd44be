package people

import (
	"context"
	"embed"
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/useracts"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

//go:embed *.html
var pages embed.FS

var (
	listPage     = ui.Parse(pages, "list.html")
	newPage      = ui.Parse(pages, "new.html")
	invitedPage  = ui.Parse(pages, "invited.html")
	passwordPage = ui.Parse(pages, "password.html")
	dangerPage   = ui.Parse(pages, "danger.html")
	userPage     = ui.Parse(pages, "user.html")
	sessionsPage = ui.Parse(pages, "sessions.html")
	grantsPage   = ui.Parse(pages, "grants.html")
	foundPage    = ui.Parse(pages, "found.html")
	givenPage    = ui.Parse(pages, "given.html")
	factorsPage  = ui.Parse(pages, "factors.html")
	keysPage     = ui.Parse(pages, "keys.html")
	groupsPage   = ui.Parse(pages, "groups.html")
	erasedPage   = ui.Parse(pages, "erased.html")
)

// Refusals of acts on records that are not there, and of acts without one.
var (
	// protocol 7
	noUser = &reply.Failure{Status: 404, Msg: "no such user: see GET /api/console/users for those there are"}
	// protocol 7
	noSession = &reply.Failure{Status: 404, Msg: "the user has no such session: see GET /api/console/users/{sub}/sessions"}
	// protocol 7
	noGrant = &reply.Failure{Status: 404,
		Msg: "the user has no grant for this application: see GET /api/console/users/{sub}/consents"}
	// protocol 7
	noKey = &reply.Failure{Status: 404, Msg: "the user has no such API key: see GET /api/console/users/{sub}/keys"}
	// protocol 7
	noPair = &reply.Failure{Status: 400, Msg: "ids are texts such as SUB.ID, with the sub of a user"}
	// protocol 7
	elsewhere = &reply.Failure{Status: 404,
		Msg: "the users are not kept here: they are administered where they are kept"}
	// protocol 7
	noChoice = &reply.Failure{Status: 400, Msg: "choose at least one, and at most 100"}
)

// Config holds what New needs.
type Config struct {
	Store  *storage.Store
	Names  *ui.Names
	Finder *ui.Finder
	Acts   useracts.Config // without its Store
	// WaitUntil returns until when attempts at a user's account wait in browsers it does not know; zero: they
	// do not. nil: nothing is counted by account, or it is not known.
	WaitUntil      func(ctx context.Context, u storage.User) (until time.Time, known bool)
	InvitationPage string // where people use an invitation; "": it is not said
}

// People is this part of the console.
type People struct {
	c    Config
	acts *useracts.Acts
}

// New makes People.
func New(c Config) *People {
	c.Acts.Store = c.Store
	return &People{c, useracts.New(c.Acts)}
}

const (
	api  = "/api/console/users"
	html = "/console/users"
)

// Part returns the endpoints and pages.
func (s *People) Part() ui.Part {
	reader, administrator := []consoleauth.Check{admin.Actor.Reader}, []consoleauth.Check{admin.Actor.Admin}
	type by = map[string]ui.Action
	part := ui.Part{Texts: texts, Pages: s.pages(reader, administrator)}
	for path, actions := range map[string]by{
		api: {"GET": s.listUsers, "POST": s.createUser}, "/api/console/invitations": {"POST": s.invite},
		"/api/console/sessions": {"GET": emptyIfNone(s.findSessions)}, "/api/console/sessions/end": {"POST": s.endFound},
		"/api/console/grants": {"GET": emptyIfNone(s.findGrants)}, "/api/console/grants/withdraw": {"POST": s.withdrawFound},
		api + "/{sub}":               {"GET": s.showUser, "PATCH": s.changeUser, "DELETE": s.erase},
		api + "/{sub}/sessions":      {"GET": s.ofUser(s.listSessions), "DELETE": s.ofUser(s.endAll)},
		api + "/{sub}/sessions/{id}": {"DELETE": s.ofUser(s.endSessions)},
		api + "/{sub}/consents":      {"GET": s.listGrants}, api +
			"/{sub}/consents/{client_id}": {"DELETE": s.ofUser(s.withdraw)},
		api + "/{sub}/unlock": {"POST": s.ofUser(s.unlock)}, api + "/{sub}/password": {"POST": s.ofUser(s.givePassword)},
		api + "/{sub}/factors": {"GET": s.ofUser(s.listFactors), "DELETE": s.resetFactors},
		api + "/{sub}/keys":    {"GET": s.ofUser(s.listKeys)}, api + "/{sub}/keys/{id}": {"DELETE": s.ofUser(s.revokeKeys)},
		api + "/{sub}/groups": {"GET": s.ofUser(s.listGroups)}, api + "/{sub}/export": {"POST": s.export},
	} {
		part.APIs = append(part.APIs, ui.API{Path: path, Methods: actions, May: reader, Changes: administrator})
	}
	return part
}

// Elsewhere returns the part where the users are a host's own and administered there: for links that lead to one.
func Elsewhere() ui.Part {
	part, reader := ui.Part{Texts: texts}, []consoleauth.Check{admin.Actor.Reader}
	none := func(http.ResponseWriter, *http.Request, admin.Actor) (any, error) { return nil, elsewhere }
	for _, below := range []string{"", "/{sub}", "/{sub}/{part}"} {
		part.APIs = append(part.APIs, ui.API{Path: api + below, May: reader, Methods: map[string]ui.Action{"GET": none}})
		part.Pages = append(part.Pages, ui.Page{Path: html + below, Title: "Users", May: reader, Get: none,
			Template: listPage})
	}
	return part
}

const one = html + "/{sub}"

// tabs are those of a user.
var tabs = []ui.Tab{
	{Title: "Overview", Path: one}, {Title: "Sessions", Path: one + "/sessions"}, {Title: "Grants", Path: one + "/grants"},
	{Title: "API keys", Path: one + "/keys"}, {Title: "Groups", Path: one + "/groups"},
	{Title: "Two-step sign-in", Path: one + "/factors"},
	{Title: "Danger", Path: one + "/danger"},
}

func (s *People) pages(reader, administrator []consoleauth.Check) []ui.Page {
	type acts = map[string]ui.Act
	to := func(result any, _ string) string { return html + "/" + result.(userRecord).Sub }
	chosen := map[string]ui.Kind{"ids": ui.Choices}
	act := func(says string, do ui.Action, done string, fields map[string]ui.Kind) ui.Act {
		return ui.Act{Says: says, Do: do, May: administrator, Done: done, Fields: fields}
	}
	all := []ui.Page{
		{Path: html, Title: "Users", Section: "People", May: reader, Get: s.listUsers, Template: listPage},
		{Path: "/console/sessions", Title: "Sessions", Section: "People", May: reader, Get: s.findSessions,
			Template: foundPage, Names: named, Acts: acts{
				"end": act("End sessions", s.endFound, "The sessions were ended.", chosen),
			}},
		{Path: "/console/grants", Title: "Grants", Section: "People", May: reader, Get: s.showGrants, Template: givenPage,
			Names: named, Acts: acts{
				"withdraw": act("Withdraw grants", s.withdrawFound, "The grants were withdrawn.", chosen),
			}},
		{Path: html + "/new", Title: "New user", May: administrator, Get: s.showNew, Template: newPage, Acts: acts{
			"create": {Says: "Create a user", Do: s.createUser, May: administrator, To: to, Done: "The user was made.",
				Fields: map[string]ui.Kind{
					"username": ui.Text, "password": ui.Text, "role": ui.Optional, "nickname": ui.Optional, "email": ui.Optional}},
			"invite": {Says: "Make an invitation", Do: s.invite, May: administrator, Result: invitedPage,
				Done: "The invitation was made.", Fields: map[string]ui.Kind{"role": ui.Optional, "days": ui.Number}},
		}},
	}
	changes := s.changes(administrator)
	for _, p := range []ui.Page{
		{Path: one, Title: "User", Get: s.showUser, Template: userPage, Acts: changes},
		{Path: one + "/danger", Title: "User", Get: s.showUser, Template: dangerPage, Acts: acts{
			"password": changes["password"], "disabled": changes["disabled"], "erase": changes["erase"],
		}},
		{Path: one + "/sessions", Title: "Sessions", Get: s.ofUser(s.listSessions), Template: sessionsPage, Acts: acts{
			"end": act("End sessions of a user", s.ofUser(s.endSessions), "The sessions were ended.", chosen),
			"all": act("Sign a user out everywhere", s.ofUser(s.endAll), "The user is signed out everywhere.", nil),
		}},
		{Path: one + "/grants", Title: "Grants", Get: s.listGrants, Template: grantsPage, Names: named, Acts: acts{
			"withdraw": act("Withdraw grants of a user", s.ofUser(s.withdraw), "The grants were withdrawn.", chosen),
		}},
		{Path: one + "/keys", Title: "API keys", Get: s.ofUser(s.listKeys), Template: keysPage, Acts: acts{
			"revoke": act("Revoke API keys of a user", s.ofUser(s.revokeKeys), "The API keys were revoked.", chosen),
		}},
		{Path: one + "/groups", Title: "Groups", Get: s.ofUser(s.listGroups), Template: groupsPage},
		{Path: one + "/factors", Title: "Two-step sign-in", Get: s.ofUser(s.listFactors), Template: factorsPage, Acts: acts{
			"reset": act("Remove the second factors of a user", s.resetFactors,
				"The second factors were removed, and the user was told.", nil),
		}},
	} {
		p.Of, p.May, p.Tabs = s.username, reader, tabs
		all = append(all, p)
	}
	return append(all, ui.Page{Path: one + "/export", Title: "Export", Of: s.username, May: administrator,
		Acts: acts{"export": {Says: "Export the data of a user", Do: s.export, May: administrator, File: download}}})
}

// changes are the acts on the user alone.
func (s *People) changes(administrator []consoleauth.Check) map[string]ui.Act {
	all := map[string]ui.Act{
		"save": {Says: "Change the role and the nickname of a user", Do: s.changeUser, Done: "The change was made.",
			Fields: map[string]ui.Kind{"role": ui.Text, "nickname": ui.Text}},
		"role": {Says: "Change the role of a user", Do: s.changeUser, Done: "The role was changed.",
			Fields: map[string]ui.Kind{"role": ui.Text}},
		"nickname": {Says: "Change the nickname of a user", Do: s.changeUser, Done: "The nickname was changed.",
			Fields: map[string]ui.Kind{"nickname": ui.Text}},
		"unlock": {Says: "Forget the failed sign-ins of a user", Do: s.ofUser(s.unlock),
			Done: "The failed sign-ins were forgotten.", Fields: map[string]ui.Kind{"address": ui.Optional}},
		"attribute": {Says: "Set an attribute of a user", Do: s.setAttribute, Done: "The change was made.",
			Fields: map[string]ui.Kind{"attribute": ui.Text, "value": ui.Text}},
		"unattribute": {Says: "Remove an attribute of a user", Do: s.dropAttribute, Done: "The change was made.",
			Fields: map[string]ui.Kind{"attribute": ui.Text}},
		"password": {Says: "Give a user a new password", Do: s.ofUser(s.givePassword), Result: passwordPage,
			Done: "The user has a new password, and is signed out everywhere."},
		"disabled": {Says: "Disable or enable a user", Do: s.changeUser, Done: "The change was made.",
			Fields: map[string]ui.Kind{"disabled": ui.Bool}},
		"erase": {Says: "Erase a user", Do: s.eraseNamed, Result: erasedPage, Done: "The user was erased.",
			Fields: map[string]ui.Kind{"confirm": ui.Text}, To: func(any, string) string { return html }},
	}
	for name, act := range all {
		act.May = administrator
		all[name] = act
	}
	return all
}

// named returns what a page names.
func named(data any) (apps, users []string) {
	switch v := data.(type) {
	case foundSessions:
		for _, one := range v.Sessions {
			users = append(users, one.Sub)
		}
	case foundGrants:
		for _, one := range v.Grants {
			apps, users = append(apps, one.ClientID), append(users, one.Sub)
		}
	case grantList:
		for _, one := range v.Consents {
			apps = append(apps, one.ClientID)
		}
	}
	return apps, users
}
