package console

import (
	"context"

	"github.com/keystile/keystile/gateway/console/internal/billing"
	"github.com/keystile/keystile/gateway/console/internal/people"
	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/console/internal/usage"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// The endpoints' paths, each with its subpaths.
const (
	pathApps    = "/api/console/apps"
	pathClients = "/api/console/clients"

	pathApp    = pathApps + "/{client_id}"
	pathSecret = pathApp + "/secret"
)

// parts lists what is in the console, in the order of the navigation.
func (s *Console) parts() []ui.Part {
	audit := s.trail
	if audit == nil {
		audit = s.auditTrail()
	}
	return []ui.Part{
		{APIs: s.apis()},
		billing.New(billing.Config{Store: s.c.Store, Billing: s.c.Billing, Recorder: s.recorder, Forget: s.c.Forget}).Part(),
		usage.New(usage.Config{Store: s.c.Store, Reader: s.c.Usage}).Part(),
		s.people(),
		audit.Part(),
		s.system().Part(),
	}
}

// apis lists the endpoints of this package itself.
func (s *Console) apis() []ui.API {
	reader, admin := []consoleauth.Check{consoleauth.Actor.Reader}, []consoleauth.Check{consoleauth.Actor.Admin}
	type by = map[string]ui.Action
	return []ui.API{
		{Path: pathApps, Owned: true, Methods: by{"GET": s.listApps, "POST": s.createApp}},
		{Path: pathApp, Owned: true, Methods: by{"GET": s.showApp, "PATCH": s.changeApp, "DELETE": s.deleteApp}},
		{Path: pathSecret, Owned: true, Methods: by{"POST": s.rotateSecret}},
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
