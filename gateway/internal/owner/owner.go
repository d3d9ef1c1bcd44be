package owner

import (
	"context"
	"net/http"
	"net/netip"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// Store lists the methods that this package needs of storage.
type Store interface {
	App(ctx context.Context, id string) (storage.App, error)
	Apps(ctx context.Context, owner, from string, n int) ([]storage.App, string, error)
	ClosedApps(ctx context.Context, owner, from string, n int) ([]storage.App, string, error)
	User(ctx context.Context, sub string) (storage.User, error)
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

// Routes returns the table of the endpoints.
func (e *Endpoints) Routes() []reply.Route {
	get := func(more ...string) []string { return append([]string{http.MethodGet, http.MethodHead}, more...) }
	return []reply.Route{
		{Path: pathApps, Methods: get(http.MethodPost), Handle: e.apps},
		{Path: pathApp, Methods: get(http.MethodPatch, http.MethodDelete), Handle: e.app},
		{Path: pathSecret, Methods: []string{http.MethodPost}, Handle: e.rotateSecret},
		{Path: pathUpgrade, Methods: []string{http.MethodPost}, Handle: e.upgrade},
		{Path: pathOrders, Methods: get(), Handle: e.orders},
		{Path: pathOrder, Methods: get(http.MethodDelete), Handle: e.oneOrder},
		{Path: pathSettlements, Methods: get(), Handle: e.settlements},
	}
}
