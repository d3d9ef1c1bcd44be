package console

import (
	"github.com/keystile/keystile/gateway/console/internal/billing"
	"github.com/keystile/keystile/gateway/console/internal/system"
	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/console/internal/usage"
	"github.com/keystile/keystile/internal/consoleauth"
)

// The endpoints' paths, each with its subpaths.
const (
	pathApps    = "/api/console/apps"
	pathUsers   = "/api/console/users"
	pathClients = "/api/console/clients"

	pathApp    = pathApps + "/{client_id}"
	pathSecret = pathApp + "/secret"
	pathUser   = pathUsers + "/{sub}"
)

// parts lists what is in the console, in the order of the navigation.
func (s *Console) parts() []ui.Part {
	return []ui.Part{
		{APIs: s.apis()},
		billing.New(billing.Config{Store: s.c.Store, Billing: s.c.Billing, Recorder: s.recorder, Forget: s.c.Forget}).Part(),
		usage.New(usage.Config{Store: s.c.Store, Reader: s.c.Usage}).Part(),
		system.New(system.Config{Nodes: s.c.Nodes}).Part(),
	}
}

// apis lists the endpoints of this package itself.
func (s *Console) apis() []ui.API {
	reader, admin := []consoleauth.Check{consoleauth.Actor.Reader}, []consoleauth.Check{consoleauth.Actor.Admin}
	type by = map[string]ui.Action
	return []ui.API{
		{Path: pathApps, Own: true, Methods: by{"GET": s.listApps, "POST": s.createApp}},
		{Path: pathApp, Own: true, Methods: by{"GET": s.showApp, "PATCH": s.changeApp, "DELETE": s.deleteApp}},
		{Path: pathSecret, Own: true, Methods: by{"POST": s.rotateSecret}},
		{Path: pathUsers, Methods: by{"GET": s.listUsers, "POST": s.createUser}, May: reader, Change: admin},
		{Path: pathUser, Methods: by{"GET": s.showUser, "PATCH": s.changeUser}, May: reader, Change: admin},
		{Path: pathClients, Methods: by{"GET": s.listClients}, May: reader},
	}
}
