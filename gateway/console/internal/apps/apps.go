package apps

import (
	"embed"
	"net/http"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/storage"
)

//go:embed *.html
var pages embed.FS

var (
	listPage    = ui.Parse(pages, "list.html")
	newPage     = ui.Parse(pages, "new.html")
	showPage    = ui.Parse(pages, "show.html")
	secretPage  = ui.Parse(pages, "secret.html")
	clientsPage = ui.Parse(pages, "clients.html")
	clientPage  = ui.Parse(pages, "client.html")
	grantsPage  = ui.Parse(pages, "grants.html")
	hostsPage   = ui.Parse(pages, "hosts.html")
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
		Pages: []ui.Page{
			{Path: root, Title: "Applications", Section: "Applications", Owned: true, Get: s.listApps, Template: listPage},
			{Path: root + "/new", Title: "New application", Owned: true, May: []consoleauth.Check{admin.Actor.Writer},
				Get: nothing, Template: newPage, Acts: map[string]ui.Act{
					"new": {Says: "Make an application", Do: s.made(s.createApp), Done: "The application is made.", Result: secretPage,
						Fields: map[string]ui.Kind{
							"name": ui.Text, "domains": ui.Lines, "redirect_uris": ui.Lines, "public": ui.Bool, "id_token_alg": ui.Optional,
						}},
				}},
			{Path: root + "/{client_id}", Title: "Application", Owned: true, Of: s.nameOf, Get: s.appPage, Template: showPage,
				Acts: s.acts()},
			{Path: root + "/{client_id}/grants", Title: "Grants", Owned: true, Get: s.listGrants, Template: grantsPage},
			{Path: "/console/clients", Title: "Clients", Section: "Applications", May: reader, Get: s.listClients,
				Template: clientsPage},
			{Path: "/console/clients/show", Title: "Client", May: reader, Get: s.showClient, Template: clientPage,
				Acts: s.clientActs()},
			{Path: "/console/clients/hosts", Title: "Hosts of clients", May: reader, Get: s.listHosts, Template: hostsPage,
				Acts: s.hostActs()},
		},
		Texts: texts,
	}
}

// acts are those on the page of an application.
func (s *Apps) acts() map[string]ui.Act {
	administrator := []consoleauth.Check{admin.Actor.Admin}
	return map[string]ui.Act{
		"set": {Says: "Change an application", Do: s.changeApp, Done: "The application is changed.",
			Fields: map[string]ui.Kind{
				"name": ui.Text, "domains": ui.Lines, "redirect_uris": ui.Lines, "backchannel_logout_uri": ui.Text,
				"legacy_success_code": ui.Number, "mfa": ui.Text,
			}},
		"flags": {Says: "Change the permissions of an application", Do: s.changeApp, May: administrator,
			Done: "The application is changed.", Fields: map[string]ui.Kind{
				"first_party": ui.Bool, "disabled": ui.Bool, "allow_http_redirect": ui.Bool, "forbid_plain": ui.Bool,
			}},
		"hold": {Says: "Change what an application may not use", Do: s.changeApp, May: administrator,
			Done: "The application is changed.", Fields: map[string]ui.Kind{"held": ui.Lines}},
		"brand": {Says: "Change the look of an application", Do: s.changeBrand, Done: "The application is changed.",
			Fields: map[string]ui.Kind{
				"brand_name": ui.Optional, "brand_logo": ui.Optional, "brand_color": ui.Optional,
			}},
		"give": {Says: "Give an application to another owner", Do: s.changeApp, May: administrator,
			Done: "The application has another owner.", Fields: map[string]ui.Kind{"owner": ui.Text}},
		"secret": {Says: "Rotate the secret of an application", Do: s.made(s.rotateSecret), Done: "The secret is rotated.",
			Result: secretPage, Fields: map[string]ui.Kind{adminapi.OverlapField: ui.Number}},
		"delete": {
			Says: "Delete an application", Do: s.deleteNamed, Done: "The application is deleted.",
			Fields: map[string]ui.Kind{"confirm": ui.Text},
			To:     func(any, string) string { return root },
		},
	}
}

// nameOf returns the name of the application that a page is about, if its reader may see it.
func (s *Apps) nameOf(r *http.Request, who admin.Actor) (string, error) {
	app, err := s.readable(r.Context(), who, r.PathValue("client_id"))
	return app.Name, err
}

func nothing(http.ResponseWriter, *http.Request, admin.Actor) (any, error) {
	return struct{}{}, nil
}
