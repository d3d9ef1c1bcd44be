package apps

import (
	"embed"
	"net/http"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/storage"
)

//go:embed *.html
var pages embed.FS

var (
	listPage     = ui.Parse(pages, "list.html")
	newPage      = ui.Parse(pages, "new.html")
	showPage     = ui.Parse(pages, "show.html")
	settingsPage = ui.Parse(pages, "settings.html")
	brandPage    = ui.Parse(pages, "brand.html")
	codePage     = ui.Parse(pages, "code.html")
	activityPage = ui.Parse(pages, "activity.html")
	dangerPage   = ui.Parse(pages, "danger.html")
	secretPage   = ui.Parse(pages, "secret.html")
	clientsPage  = ui.Parse(pages, "clients.html")
	clientPage   = ui.Parse(pages, "client.html", "admission.html")
	grantsPage   = ui.Parse(pages, "grants.html", "admission.html")
	hostsPage    = ui.Parse(pages, "hosts.html")
)

// Config holds what New needs.
type Config struct {
	BaseURL string
	Store   *storage.Store // what is read
	Acts    *appacts.Acts
	Clients *appacts.Clients
	Finder  *ui.Finder
}

// Apps is this part of the console.
type Apps struct{ c Config }

// New makes an Apps.
func New(c Config) *Apps { return &Apps{c} }

const (
	root       = "/console/apps"
	clientsAPI = "/api/console/clients"
)

// Part returns the endpoints and pages.
func (s *Apps) Part() ui.Part {
	type by = map[string]ui.Action
	reader, administrator := []consoleauth.Check{admin.Actor.Reader}, []consoleauth.Check{admin.Actor.Admin}
	return ui.Part{
		APIs: []ui.API{
			{Path: "/api/console/apps", Owned: true, Methods: by{"GET": s.listApps, "POST": s.createApp}},
			{Path: "/api/console/apps/{client_id}", Owned: true, Methods: by{"GET": s.showApp, "PATCH": s.changeApp,
				"DELETE": s.deleteApp}},
			{Path: "/api/console/apps/{client_id}/consents", Owned: true, Methods: by{"GET": s.listGrants}},
			{Path: "/api/console/apps/{client_id}/secret", Owned: true, Methods: by{"POST": s.rotateSecret}},
			{Path: clientsAPI, Methods: by{"GET": s.listClients}, May: reader},
			{Path: clientsAPI + "/show", Methods: by{"GET": s.showClient}, May: reader},
			{Path: clientsAPI + "/set", Methods: by{"POST": s.setClient}, Changes: administrator},
			{Path: clientsAPI + "/refetch", Methods: by{"POST": s.refetch}, Changes: administrator},
			{Path: clientsAPI + "/forget", Methods: by{"POST": s.forgetClient}, Changes: administrator},
			{Path: clientsAPI + "/hosts", Methods: by{"GET": s.listHosts, "POST": s.setHost}, May: reader,
				Changes: administrator},
			{Path: clientsAPI + "/hosts/{host}", Methods: by{"DELETE": s.forgetHost}, Changes: administrator},
		},
		Pages: append(s.appPages(), s.agentPages(reader)...),
		Texts: texts,
	}
}

const one = root + "/{client_id}"

// tabs are those of an application.
var tabs = []ui.Tab{
	{Title: "Overview", Path: one}, {Title: "Settings", Path: one + "/settings"}, {Title: "Brand", Path: one + "/brand"},
	{Title: "Access", Path: one + "/grants"}, {Title: "Code", Path: one + "/code"},
	{Title: "Activity", Path: one + "/activity"}, {Title: "Danger", Path: one + "/danger"},
}

// appPages are those of the applications. The page of one takes every form that one of its tabs has.
func (s *Apps) appPages() []ui.Page {
	acts := s.acts()
	some := func(names ...string) map[string]ui.Act {
		of := map[string]ui.Act{}
		for _, name := range names {
			of[name] = acts[name]
		}
		return of
	}
	tab := func(path string, get ui.Action, t *page.Template, acts map[string]ui.Act) ui.Page {
		return ui.Page{Path: one + path, Title: "Application", Owned: true, Of: s.nameOf, Get: get, Template: t, Acts: acts,
			Names: named, Tabs: tabs}
	}
	return []ui.Page{
		{Path: root, Title: "Applications", Section: "Applications", Owned: true, Get: s.browseApps, Template: listPage,
			Names: named},
		{Path: root + "/new", Title: "New application", Owned: true, May: []consoleauth.Check{admin.Actor.Writer},
			Get: nothing, Template: newPage, Acts: map[string]ui.Act{
				"new": {Says: "Make an application", Do: s.made(s.createApp), Done: "The application is made.",
					Result: secretPage, To: toApp, Tells: hostsAlone, Fields: map[string]ui.Kind{
						"name": ui.Text, "domains": ui.Lines, "redirect_uris": ui.Lines, "public": ui.Bool, "id_token_alg": ui.Optional,
					}},
			}},
		tab("", s.appPage, showPage, acts),
		tab("/settings", s.appPage, settingsPage, some("set", "operate", "proves")),
		tab("/brand", s.appPage, brandPage, some("brand")),
		tab("/grants", s.listGrants, grantsPage, some("give", "admit", "learns")),
		tab("/code", s.appPage, codePage, nil),
		tab("/activity", s.activity, activityPage, nil),
		tab("/danger", s.dangers, dangerPage, some("secret", "off", "on", "delete")),
	}
}

// agentPages are those of the applications that nobody registered.
func (s *Apps) agentPages(reader []consoleauth.Check) []ui.Page {
	return []ui.Page{
		{Path: "/console/clients", Title: "Agents", Section: "Applications", May: reader, Get: s.listClients,
			Template: clientsPage},
		{Path: "/console/clients/show", Title: "Agent", May: reader, Get: s.showClient, Template: clientPage,
			Acts: s.clientActs(), Names: named},
		{Path: "/console/clients/hosts", Title: "Hosts of agents", May: reader, Get: s.listHosts, Template: hostsPage,
			Acts: s.hostActs()},
	}
}

// acts are those on the pages of an application.
func (s *Apps) acts() map[string]ui.Act {
	administrator := []consoleauth.Check{admin.Actor.Admin}
	const changed = "The application is changed."
	flag := func(says, done string, disabled bool) ui.Act {
		return ui.Act{Says: says, Do: s.switched(disabled), May: administrator, Done: done}
	}
	return map[string]ui.Act{
		"set": {Says: "Change an application", Do: s.saveSettings, Done: changed, Tells: hostsAlone,
			Fields: map[string]ui.Kind{
				"name": ui.Text, "domains": ui.Lines, "redirect_uris": ui.Lines, "backchannel_logout_uri": ui.Text,
				"legacy_success_code": ui.Number, "mfa": ui.Text, "dpop": ui.Optional, "id_token_alg": ui.Optional,
			}},
		"operate": {Says: "Change what operators decide about an application", Do: s.changeApp, May: administrator,
			Done: changed, Fields: map[string]ui.Kind{
				"first_party": ui.Bool, "allow_http_redirect": ui.Bool, "forbid_plain": ui.Bool, "held": ui.Lines,
			}},
		"flags": {Says: "Change the permissions of an application", Do: s.changeApp, May: administrator, Done: changed,
			Fields: map[string]ui.Kind{
				"first_party": ui.Bool, "disabled": ui.Bool, "allow_http_redirect": ui.Bool, "forbid_plain": ui.Bool,
			}},
		"hold": {Says: "Change what an application may not use", Do: s.changeApp, May: administrator, Done: changed,
			Fields: map[string]ui.Kind{"held": ui.Lines}},
		"off": flag("Switch an application off", "The application is switched off.", true),
		"on":  flag("Switch an application on", "The application is switched on again.", false),
		"brand": {Says: "Change the look of an application", Do: s.changeBrand, Done: changed,
			Fields: map[string]ui.Kind{
				"brand_name": ui.Optional, "brand_logo": ui.Optional, "brand_color": ui.Optional,
			}},
		"give": {Says: "Give an application to another owner", Do: s.give, May: administrator,
			Done: "The application has another owner.", Fields: map[string]ui.Kind{"owner": ui.Text}},
		"admit": {Says: "Change who may use an application", Do: s.changeApp, May: administrator, Done: changed,
			Fields: map[string]ui.Kind{"allow": ui.Lines, "deny": ui.Lines}},
		"learns": {Says: "Change what an application learns of its users", Do: typedClaims(s.changeApp), May: administrator,
			Done: changed, Fields: learnsFields},
		"proves": {Says: "Change the keys of an application", Do: typedKeys(s.changeApp), May: administrator,
			Done: changed, Fields: provesForm},
		"secret": {Says: "Rotate the secret of an application", Do: s.made(s.rotateSecret), Done: "The secret is rotated.",
			Result: secretPage, To: toApp, Fields: map[string]ui.Kind{adminapi.OverlapField: ui.Number}},
		"delete": {
			Says: "Delete an application", Do: s.deleteNamed, Done: "The application is deleted.",
			Fields: map[string]ui.Kind{"confirm": ui.Text},
			To:     func(any, string) string { return root },
		},
	}
}

// toApp leads to the page of the application whose secret is shown.
func toApp(result any, _ string) string { return root + "/" + result.(appFacts).ClientID }

// nameOf returns the name of the application that a page is about, if its reader may see it.
func (s *Apps) nameOf(r *http.Request, who admin.Actor) (string, error) {
	app, err := s.readable(r.Context(), who, r.PathValue("client_id"))
	return app.Name, err
}

func nothing(http.ResponseWriter, *http.Request, admin.Actor) (any, error) {
	return struct{}{}, nil
}
