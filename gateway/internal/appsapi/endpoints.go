package appsapi

import (
	"context"
	"net/http"
	"net/netip"
	"slices"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/groups"
)

// Store lists the methods that this package needs of storage.
type Store interface {
	App(ctx context.Context, id string) (storage.App, error)
	Apps(ctx context.Context, owner, from string, n int) ([]storage.App, string, error)
	ClosedApps(ctx context.Context, owner, from string, n int) ([]storage.App, string, error)
	User(ctx context.Context, sub string) (storage.User, error)
	Group(ctx context.Context, name string) (groups.Group, error)
	Order(ctx context.Context, id string) (storage.Order, error)
	Orders(ctx context.Context, q storage.OrderQuery, after string, n int) ([]storage.Order, string, error)
}

// Config holds what New needs, all of it.
type Config struct {
	Store    Store
	Billing  *billing.Billing
	Acts     *appacts.Acts
	ClientIP func(*http.Request) netip.Addr

	// Caller returns whom the bearer token of a request speaks for, with the application that it
	// was issued to; the error is why it speaks for nobody.
	Caller func(*http.Request) (storage.Caller, storage.App, error)
}

// Endpoints are those of applications and of billing.
type Endpoints struct{ c Config }

// New makes Endpoints.
func New(c Config) *Endpoints { return &Endpoints{c} }

// Paths of the endpoints (protocol 4.7).
const (
	pathApps        = "/api/v1/apps"
	pathApp         = pathApps + "/{client_id}"
	pathSecret      = pathApp + "/secret"
	pathUpgrade     = "/api/v1/billing/upgrade"
	pathOrders      = "/api/v1/billing/orders"
	pathOrder       = pathOrders + "/{order_id}"
	pathSettlements = "/api/v1/billing/settlements"
)

// endpoint answers a method of a path: with a record, unless err says why not.
type endpoint func(w http.ResponseWriter, r *http.Request, by manager) (record any, err error)

// Routes returns the table of the endpoints.
func (e *Endpoints) Routes() []reply.Route {
	type by = map[string]endpoint
	return []reply.Route{
		e.route(pathApps, by{"GET": e.listApps, "POST": e.createApp}),
		e.route(pathApp, by{"GET": e.showApp, "PATCH": e.changeApp, "DELETE": e.deleteApp}),
		e.route(pathSecret, by{"POST": e.rotateSecret}),
		e.route(pathUpgrade, by{"POST": e.upgrade}),
		e.route(pathOrders, by{"GET": e.listOrders}),
		e.route(pathOrder, by{"GET": e.showOrder, "DELETE": e.cancelOrder}),
		e.route(pathSettlements, by{"GET": e.settlements}),
	}
}

// route makes the route of a path. An application that is not the manager's is answered as if there were none.
func (e *Endpoints) route(path string, by map[string]endpoint) reply.Route {
	by["HEAD"] = by["GET"]
	methods := slices.DeleteFunc([]string{"GET", "HEAD", "POST", "PATCH", "DELETE"},
		func(m string) bool { return by[m] == nil })
	return reply.Route{Path: path, Methods: methods, Handle: func(w http.ResponseWriter, r *http.Request) error {
		m, err := e.manager(r)
		if err != nil {
			return err
		}
		record, err := by[r.Method](w, r, m)
		if err != nil {
			return adminapi.Refusal(err, noApp)
		}
		return reply.Success(w, record)
	}}
}
