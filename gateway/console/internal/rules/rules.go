package rules

import (
	"context"
	"embed"
	"slices"
	"strings"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/toolacts"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
)

//go:embed *.html
var pages embed.FS

var (
	listPage    = ui.Parse(pages, "list.html")
	showPage    = ui.Parse(pages, "show.html")
	bundlesPage = ui.Parse(pages, "bundles.html")
	seesPage    = ui.Parse(pages, "sees.html")
)

// Bus decides who sees which tools; *mcpbus.Bus does.
type Bus interface {
	OpenToAll() bool
	OpenedBySetting() string
	Explain(ctx context.Context, v access.Viewer, after string, n int) ([]access.Verdict, string, error)
}

// Config holds what New needs.
type Config struct {
	Store *storage.Store
	Bus   Bus         // nil: there are no tools, and nothing is shown
	Ways  access.Ways // every way in; nil: not known
	Acts  *toolacts.Acts

	Finder *ui.Finder
	User   func(ctx context.Context, sub string) (storage.User, error) // the user of a sub, who may be a host's own
}

// Rules is this part of the console.
type Rules struct{ c Config }

// New makes Rules.
func New(c Config) *Rules { return &Rules{c} }

// Refusals of requests for records that are not there.
var (
	// protocol 7
	noCapability = &reply.Failure{Status: 404, Msg: "no such capability: see GET /api/console/access for those there are"}
	// protocol 7
	noRule = &reply.Failure{Status: 404, Msg: "the capability has no such rule: it was removed or replaced"}
	// protocol 7
	noBundle = &reply.Failure{Status: 404, Msg: "no such bundle: see GET /api/console/bundles for those there are"}
	// protocol 7
	notTyped = &reply.Failure{Status: 400, Msg: "name a user, an application, a role or a tier"}
	// protocol 7
	noUser = &reply.Failure{Status: 400, Msg: "there is no such user: give a username or a sub"}
	// protocol 7
	noApp = &reply.Failure{Status: 400, Msg: "there is no such application: give its name or its client_id"}
	// protocol 7
	noGroup = &reply.Failure{Status: 400, Msg: "there is no such group: make it first"}
	// protocol 7
	noGroupNamed = &reply.Failure{Status: 400, Msg: "Group is missing: type its name."}
	// protocol 7
	noPerson = &reply.Failure{Status: 400, Msg: "Person is missing: type a name, or a part of it to choose from."}
	// protocol 7
	noNamed = &reply.Failure{Status: 400, Msg: "Application is missing: type its name, or a part of it to choose from."}
)

const (
	api        = "/api/console/access"
	html       = "/console/access"
	apiBundles = "/api/console/bundles"
	apiSees    = "/api/console/visible"
)

// Part returns the endpoints and pages.
func (s *Rules) Part() ui.Part {
	if s.c.Bus == nil {
		return ui.Part{Texts: texts}
	}
	type by = map[string]ui.Action
	type acts = map[string]ui.Act
	reader, administrator := []consoleauth.Check{admin.Actor.Reader}, []consoleauth.Check{admin.Actor.Admin}
	return ui.Part{
		Texts: texts,
		APIs: []ui.API{
			{Path: api, Methods: by{"GET": s.list}},
			{Path: api + "/{member}", Methods: by{"GET": s.show, "POST": s.add}},
			{Path: api + "/{member}/{id}", Methods: by{"DELETE": s.remove}},
			{Path: apiBundles, Methods: by{"GET": s.bundles, "POST": s.makeBundle}, Changes: administrator},
			{Path: apiBundles + "/{name}", Methods: by{"DELETE": s.removeBundle}, Changes: administrator},
			{Path: apiBundles + "/{name}/access", Methods: by{"GET": s.bundleRules, "POST": s.addBundleRule},
				Changes: administrator},
			{Path: apiBundles + "/{name}/access/{id}", Methods: by{"DELETE": s.removeBundleRule}, Changes: administrator},
			{Path: apiSees, Methods: by{"GET": s.sees}, May: reader},
		},
		Pages: []ui.Page{
			{Path: html, Title: "Permissions", Section: "MCP server", Get: s.list, Template: listPage, Names: named},
			{Path: html + "/{member}", Title: "Permissions of an API", Get: s.show, Template: showPage, Names: named,
				Tabs: ui.ToolTabs, Acts: acts{
					"add": {Says: "Add a rule", Do: s.addByForm, Done: "The rule was added.", Fields: map[string]ui.Kind{
						"subject": ui.Text, "who": ui.Text, "user": ui.Text, "app": ui.Text, "group": ui.Text,
						"deny": ui.Bool, "tools": ui.Lines,
						"read_only": ui.Bool}},
					"remove": {Says: "Remove a rule", Do: s.remove, Done: "The rule was removed.",
						Fields: map[string]ui.Kind{"id": ui.Text}},
				}},
			{Path: "/console/bundles", Title: "Tool sets", Section: "MCP server", Get: s.bundles, Template: bundlesPage,
				Acts: acts{
					"make": {Says: "Make a tool set", Do: s.makeBundle, May: administrator, Done: "The tool set was made.",
						Fields: map[string]ui.Kind{
							"name": ui.Text, "label": ui.Optional, "description": ui.Optional, "tools": ui.Lines}},
					"allow": {Says: "Change who may use a tool set", Do: s.addBundleRuleByForm, May: administrator,
						Done: "The rule was added.", Fields: map[string]ui.Kind{"name": ui.Text, "subject": ui.Text, "deny": ui.Bool}},
					"disallow": {Says: "Change who may use a tool set", Do: s.removeBundleRule, May: administrator,
						Done: "The rule was removed.", Fields: map[string]ui.Kind{"name": ui.Text, "id": ui.Text}},
					"remove": {Says: "Remove a tool set", Do: s.removeBundle, May: administrator,
						Done: "The tool set was removed.", Fields: map[string]ui.Kind{"name": ui.Text}},
				}},
			{Path: "/console/visible", Title: "Preview access", Section: "MCP server", May: reader, Get: s.sees,
				Template: seesPage, Names: named},
		},
	}
}

// named returns the applications and the users that a page names.
func named(data any) (apps, users []string) {
	subject := func(r *rule) {
		switch kind, name, _ := strings.Cut(r.Subject, ":"); kind {
		case access.SubjectApp:
			apps = append(apps, name)
		case access.SubjectUser:
			users = append(users, name)
		}
	}
	switch data := data.(type) {
	case entries:
		for _, e := range data.Entries {
			users = append(users, e.Owner)
		}
	case ruleList:
		users = append(users, data.Owner)
		for _, one := range data.Rules {
			subject(&one)
		}
	case bundleList:
		for _, b := range data.Bundles {
			for _, one := range b.Rules {
				subject(&one)
			}
		}
	case answer:
		apps, users = append(apps, data.App), append(users, data.User)
		for _, one := range data.Tools {
			if one.Rule != nil {
				subject(one.Rule)
			}
		}
	}
	return slices.DeleteFunc(apps, empty), slices.DeleteFunc(users, empty)
}

func empty(id string) bool { return id == "" }
