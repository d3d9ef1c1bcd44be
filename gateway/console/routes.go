package console

import (
	"github.com/keystile/keystile/gateway/console/internal/system"
	"github.com/keystile/keystile/gateway/console/internal/tools"
	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/internal/consoleauth"
)

// The endpoints' paths, each with its subpaths.
const (
	pathApps    = "/api/console/apps"
	pathOrders  = "/api/console/orders"
	pathUsers   = "/api/console/users"
	pathClients = "/api/console/clients"

	pathApp     = pathApps + "/{client_id}"
	pathSecret  = pathApp + "/secret"
	pathOrder   = pathOrders + "/{order_id}"
	pathApprove = pathOrder + "/approve"
	pathReject  = pathOrder + "/reject"
	pathUser    = pathUsers + "/{sub}"
)

// parts lists what is in the console, in the order of the navigation.
func (s *Console) parts() []ui.Part {
	return []ui.Part{
		{APIs: s.apis()},
		tools.New(tools.Config{BaseURL: s.c.BaseURL, Store: s.c.Store, Registry: s.c.Registry, Bus: s.c.Bus, Recorder: s.recorder}).Part(),
		system.New(system.Config{Nodes: s.c.Nodes}).Part(),
	}
}

// apis lists the endpoints of this package itself.
func (s *Console) apis() []ui.API {
	admin := []consoleauth.Check{consoleauth.Actor.Admin}
	type by = map[string]ui.Action
	return []ui.API{
		{Path: pathApps, Methods: by{"GET": s.listApps, "POST": s.createApp}},
		{Path: pathApp, Methods: by{"GET": s.showApp, "PATCH": s.changeApp, "DELETE": s.deleteApp}},
		{Path: pathSecret, Methods: by{"POST": s.rotateSecret}},
		{Path: pathOrders, Methods: by{"GET": s.listOrders}},
		{Path: pathOrder, Methods: by{"GET": s.showOrder, "DELETE": s.cancelOrder}},
		{Path: pathApprove, Methods: by{"POST": s.approveOrder}, May: admin},
		{Path: pathReject, Methods: by{"POST": s.rejectOrder}, May: admin},
		{Path: pathUsers, Methods: by{"GET": s.listUsers, "POST": s.createUser}, May: admin},
		{Path: pathUser, Methods: by{"GET": s.showUser, "PATCH": s.changeUser}, May: admin},
		{Path: pathClients, Methods: by{"GET": s.listClients}, May: admin},
	}
}
