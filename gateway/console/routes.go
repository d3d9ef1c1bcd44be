package console

import (
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
	audit := s.trail
	if audit == nil {
		audit = s.auditTrail()
	}
	return []ui.Part{
		{APIs: s.apis()},
		audit.Part(),
		s.system().Part(),
	}
}

// apis lists the endpoints of this package itself.
func (s *Console) apis() []ui.API {
	admin := []consoleauth.Check{consoleauth.Actor.Admin}
	reader := []consoleauth.Check{consoleauth.Actor.Reader}
	type by = map[string]ui.Action
	return []ui.API{
		{Path: pathApps, Owned: true, Methods: by{"GET": s.listApps, "POST": s.createApp}},
		{Path: pathApp, Owned: true, Methods: by{"GET": s.showApp, "PATCH": s.changeApp, "DELETE": s.deleteApp}},
		{Path: pathSecret, Owned: true, Methods: by{"POST": s.rotateSecret}},
		{Path: pathOrders, Owned: true, Methods: by{"GET": s.listOrders}},
		{Path: pathOrder, Owned: true, Methods: by{"GET": s.showOrder, "DELETE": s.cancelOrder}},
		{Path: pathApprove, Methods: by{"POST": s.approveOrder}, Changes: admin},
		{Path: pathReject, Methods: by{"POST": s.rejectOrder}, Changes: admin},
		{Path: pathUsers, Methods: by{"GET": s.listUsers, "POST": s.createUser}, May: reader, Changes: admin},
		{Path: pathUser, Methods: by{"GET": s.showUser, "PATCH": s.changeUser}, May: reader, Changes: admin},
		{Path: pathClients, Methods: by{"GET": s.listClients}, May: reader},
	}
}
