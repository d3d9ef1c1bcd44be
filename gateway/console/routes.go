package console

import (
	"net/http"
	"slices"

	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/internal/reply"
)

// The endpoints' paths, each with its subpaths.
const (
	pathApps    = "/api/console/apps"
	pathOrders  = "/api/console/orders"
	pathUsers   = "/api/console/users"
	pathNodes   = "/api/console/nodes"
	pathClients = "/api/console/clients"

	pathApp     = pathApps + "/{client_id}"
	pathSecret  = pathApp + "/secret"
	pathOrder   = pathOrders + "/{order_id}"
	pathApprove = pathOrder + "/approve"
	pathReject  = pathOrder + "/reject"
	pathUser    = pathUsers + "/{sub}"
)

// paths are those that the console answers at, and below.
var paths = []string{pathApps, pathOrders, pathUsers, pathNodes, pathClients}

// action handles a method at a path for an identified user.
type action func(http.ResponseWriter, *http.Request, consoleauth.Actor) error

// routes lists every endpoint.
func (s *Console) routes() []reply.Route {
	admin := consoleauth.Actor.Admin
	return []reply.Route{
		s.route(pathApps, actions{"GET": s.listApps, "POST": s.createApp}),
		s.route(pathApp, actions{"GET": s.showApp, "PATCH": s.changeApp, "DELETE": s.deleteApp}),
		s.route(pathSecret, actions{"POST": s.rotateSecret}),
		s.route(pathOrders, actions{"GET": s.listOrders}),
		s.route(pathOrder, actions{"GET": s.showOrder, "DELETE": s.cancelOrder}),
		s.route(pathApprove, actions{"POST": s.approveOrder}, admin),
		s.route(pathReject, actions{"POST": s.rejectOrder}, admin),
		s.route(pathUsers, actions{"GET": s.listUsers, "POST": s.createUser}, admin),
		s.route(pathUser, actions{"GET": s.showUser, "PATCH": s.changeUser}, admin),
		s.route(pathNodes, actions{"GET": s.listNodes}, admin),
		s.route(pathClients, actions{"GET": s.listClients}, admin),
	}
}

type actions map[string]action

// route makes a route. Every change requires a fresh sign-in: nearly all must, and the
// fields of a body are not known before it is read.
func (s *Console) route(path string, by actions, checks ...consoleauth.Check) reply.Route {
	fresh := append(slices.Clone(checks), consoleauth.Actor.Fresh)
	var methods []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		if by[m] != nil {
			methods = append(methods, m)
		}
	}
	if by[http.MethodGet] != nil {
		methods = append(methods, http.MethodHead)
	}
	return reply.Route{Path: path, Methods: methods, Handle: func(w http.ResponseWriter, r *http.Request) error {
		act, need := by[r.Method], fresh
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			act, need = by[http.MethodGet], checks
		}
		actor, err := s.access.Actor(r, need...)
		if err != nil {
			return err
		}
		return act(w, r, actor)
	}}
}
