package console

import (
	"context"

	"github.com/keystile/keystile/gateway/console/internal/people"
	"github.com/keystile/keystile/gateway/console/internal/system"
	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// The endpoints' paths, each with its subpaths.
const (
	pathApps    = "/api/console/apps"
	pathOrders  = "/api/console/orders"
	pathClients = "/api/console/clients"

	pathApp     = pathApps + "/{client_id}"
	pathSecret  = pathApp + "/secret"
	pathOrder   = pathOrders + "/{order_id}"
	pathApprove = pathOrder + "/approve"
	pathReject  = pathOrder + "/reject"
)

// parts lists what is in the console, in the order of the navigation.
func (s *Console) parts() []ui.Part {
	return []ui.Part{
		{APIs: s.apis()},
		s.people(),
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
		{Path: pathOrders, Own: true, Methods: by{"GET": s.listOrders}},
		{Path: pathOrder, Own: true, Methods: by{"GET": s.showOrder, "DELETE": s.cancelOrder}},
		{Path: pathApprove, Methods: by{"POST": s.approveOrder}, May: reader, Change: admin},
		{Path: pathReject, Methods: by{"POST": s.rejectOrder}, May: reader, Change: admin},
		{Path: pathClients, Methods: by{"GET": s.listClients}, May: reader},
	}
}

// people returns the pages and endpoints of users.
func (s *Console) people() ui.Part {
	return people.New(people.Config{
		Store: s.c.Store, Recorder: s.recorder,
		Create: func(ctx context.Context, u storage.User, password string) (storage.User, error) {
			return s.c.Users.Create(ctx, u, password)
		},
		Revoke: func(ctx context.Context, rs ...driver.Revocation) error { return s.c.Revoker.Revoke(ctx, rs...) },
	}).Part()
}
