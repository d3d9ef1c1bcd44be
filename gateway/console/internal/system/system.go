package system

import (
	"context"
	"embed"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/serviceacts"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/storage"
)

//go:embed *.html
var pages embed.FS

var (
	nodesPage    = ui.Parse(pages, "nodes.html")
	keysPage     = ui.Parse(pages, "keys.html")
	healthPage   = ui.Parse(pages, "health.html")
	settingsPage = ui.Parse(pages, "settings.html")
	eventsPage   = ui.Parse(pages, "events.html")
)

// Config holds what New needs.
type Config struct {
	Nodes    Nodes // nil: no nodes are listed
	Keys     Keys  // nil: no keys are
	Store    *storage.Store
	Vitals   func(ctx context.Context) []Vital // nil: those of the process alone
	Settings func() []Setting                  // nil: the stored ones alone
	Stored   func() Server                     // nil: what the records are in is not shown
	Counters func() Server                     // nil: what counts for all nodes is not
	Finder   *ui.Finder                        // of the application that events are sought of
	Acts     *serviceacts.Acts
	Began    time.Time
}

// System is this part of the console.
type System struct{ c Config }

// New makes a System.
func New(c Config) *System { return &System{c} }

// Part returns the endpoints and pages.
func (s *System) Part() ui.Part {
	reader, administrator := []consoleauth.Check{admin.Actor.Reader}, []consoleauth.Check{admin.Actor.Admin}
	type by = map[string]ui.Action
	return ui.Part{
		APIs: []ui.API{
			{Path: "/api/console/nodes", Methods: by{"GET": s.listNodes}, May: reader},
			{Path: "/api/console/health", Methods: by{"GET": s.health}, May: reader},
			{Path: "/api/console/events", Methods: by{"GET": s.listEvents}, May: reader},
			{Path: "/api/console/keys", Methods: by{"GET": s.listKeys}, May: reader},
			{Path: "/api/console/keys/rotate", Methods: by{"POST": s.rotateKey}, May: administrator},
			{Path: "/api/console/keys/retire", Methods: by{"POST": s.retireKey}, May: administrator},
			{Path: "/api/console/settings", Methods: by{"GET": s.listSettings, "PATCH": s.changeSetting}, May: reader,
				Changes: administrator},
		},
		Pages: []ui.Page{
			{Path: "/console/health", Title: "Health", Section: "Service", May: reader, Get: s.health, Template: healthPage},
			{Path: "/console/nodes", Title: "Nodes", Section: "Service", May: reader, Get: s.listNodes, Template: nodesPage},
			{Path: "/console/keys", Title: "Keys", Section: "Service", May: reader, Get: s.listKeys, Template: keysPage,
				Acts: map[string]ui.Act{
					"rotate": {Says: "Rotate the signing key", Do: s.rotateKey, May: administrator,
						Fields: map[string]ui.Kind{"alg": ui.Text}, Done: "The next key signs from now on."},
					"retire": {Says: "Withdraw a signing key", Do: s.retireKey, May: administrator,
						Fields: map[string]ui.Kind{"kid": ui.Text}, Done: "The key was withdrawn: what it signed is invalid."},
				}},
			{Path: "/console/events", Title: "Events of users", Section: "Service", May: reader, Get: s.browseEvents,
				Template: eventsPage, Names: namesOfEvents},
			{Path: "/console/settings", Title: "Settings", Section: "Service", May: reader, Get: s.browseSettings,
				Template: settingsPage, Acts: map[string]ui.Act{
					"set": {Says: "Change a setting", Do: s.changeSetting, May: administrator,
						Fields: map[string]ui.Kind{"name": ui.Text, "value": ui.Text},
						Done:   "The setting was changed. It applies at once, and stays."},
				}},
		},
		Texts: texts,
	}
}
