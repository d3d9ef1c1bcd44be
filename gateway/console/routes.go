package console

import (
	"net/http"

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
	return []reply.Route{
		s.owned(pathApps, actions{"GET": s.listApps, "POST": s.createApp}),
		s.owned(pathApp, actions{"GET": s.showApp, "PATCH": s.changeApp, "DELETE": s.deleteApp}),
		s.owned(pathSecret, actions{"POST": s.rotateSecret}),
		s.owned(pathOrders, actions{"GET": s.listOrders}),
		s.owned(pathOrder, actions{"GET": s.showOrder, "DELETE": s.cancelOrder}),
		s.managed(pathApprove, actions{"POST": s.approveOrder}),
		s.managed(pathReject, actions{"POST": s.rejectOrder}),
		s.managed(pathUsers, actions{"GET": s.listUsers, "POST": s.createUser}),
		s.managed(pathUser, actions{"GET": s.showUser, "PATCH": s.changeUser}),
		s.managed(pathNodes, actions{"GET": s.listNodes}),
		s.managed(pathClients, actions{"GET": s.listClients}),
	}
}

type actions map[string]action

// owned makes a route to records of which everybody has their own.
func (s *Console) owned(path string, by actions) reply.Route {
	return route(path, by, func(r *http.Request, checks ...consoleauth.Check) (consoleauth.Actor, error) {
		return s.access.Owner(r, checks...)
	}, nil, nil)
}

// managed makes a route to what auditors read and administrators change.
func (s *Console) managed(path string, by actions) reply.Route {
	return route(path, by, func(r *http.Request, checks ...consoleauth.Check) (consoleauth.Actor, error) {
		return s.access.Actor(r, checks...)
	}, []consoleauth.Check{consoleauth.Actor.Reader}, []consoleauth.Check{consoleauth.Actor.Admin})
}

// route makes a route. Every change requires a fresh sign-in: nearly all must, and the
// fields of a body are not known before it is read.
func route(path string, by actions, who func(*http.Request, ...consoleauth.Check) (consoleauth.Actor, error), reads, changes []consoleauth.Check) reply.Route {
	changes = append(changes, consoleauth.Actor.Fresh)
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
		act, need := by[r.Method], changes
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			act, need = by[http.MethodGet], reads
		}
		actor, err := who(r, need...)
		if err != nil {
			return err
		}
		return act(w, r, actor)
	}}
}
