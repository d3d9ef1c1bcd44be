package console

import (
	"github.com/keystile/keystile/gateway/console/internal/apps"
	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/internal/consoleauth"
)

// The endpoints' paths, each with its subpaths.
const (
	pathOrders = "/api/console/orders"
	pathUsers  = "/api/console/users"

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
		apps.New(apps.Config{
			BaseURL: s.c.BaseURL, Store: s.c.Store, Billing: s.c.Billing, Revoker: s.c.Revoker, Recorder: s.recorder, Forget: s.c.Forget,
		}).Part(),
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
		{Path: pathOrders, Owned: true, Methods: by{"GET": s.listOrders}},
		{Path: pathOrder, Owned: true, Methods: by{"GET": s.showOrder, "DELETE": s.cancelOrder}},
		{Path: pathApprove, Methods: by{"POST": s.approveOrder}, Changes: admin},
		{Path: pathReject, Methods: by{"POST": s.rejectOrder}, Changes: admin},
		{Path: pathUsers, Methods: by{"GET": s.listUsers, "POST": s.createUser}, May: reader, Changes: admin},
		{Path: pathUser, Methods: by{"GET": s.showUser, "PATCH": s.changeUser}, May: reader, Changes: admin},
	}
}
