package gateway

import (
	"net/http"
	"slices"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/storage"
)

// Paths of the endpoints (protocol 4.7).
const (
	pathQuota  = "/api/v1/quota"
	pathUsage  = "/api/v1/usage"
	pathPlans  = "/api/v1/billing/plans"
	pathVerify = "/api/v1/verify"

	pathApps        = "/api/v1/apps"
	pathApp         = pathApps + "/{client_id}"
	pathSecret      = pathApp + "/secret"
	pathUpgrade     = "/api/v1/billing/upgrade"
	pathOrders      = "/api/v1/billing/orders"
	pathOrder       = pathOrders + "/{order_id}"
	pathSettlements = "/api/v1/billing/settlements"
)

// routes lists every endpoint of this package.
func (g *Gateway) routes() []reply.Route {
	read := []string{http.MethodGet, http.MethodHead}
	routes := []reply.Route{
		{Path: pathQuota, Methods: read, Handle: g.quota},
		{Path: pathUsage, Methods: read, Handle: g.usage},
		{Path: pathPlans, Methods: read, Handle: g.plans},
		{Path: pathVerify, Handle: g.verify}, // proxies ask in any method, and some put the path behind it
		{Path: pathVerify + "/{path...}", Handle: g.verify},
	}
	and := func(more ...string) []string { return append(slices.Clone(read), more...) }
	return append(routes,
		reply.Route{Path: pathApps, Methods: and(http.MethodPost), Handle: g.apps},
		reply.Route{Path: pathApp, Methods: and(http.MethodPatch, http.MethodDelete), Handle: g.app},
		reply.Route{Path: pathSecret, Methods: []string{http.MethodPost}, Handle: g.rotateSecret},
		reply.Route{Path: pathUpgrade, Methods: []string{http.MethodPost}, Handle: g.upgrade},
		reply.Route{Path: pathOrders, Methods: read, Handle: g.orders},
		reply.Route{Path: pathOrder, Methods: and(http.MethodDelete), Handle: g.oneOrder},
		reply.Route{Path: pathSettlements, Methods: read, Handle: g.settlements},
	)
}

// caller returns the caller of a request; it fails if there is none.
func (g *Gateway) caller(r *http.Request) (storage.Caller, *account, error) {
	v := reqctx.From(r.Context())
	if err := checkAdmitted(v); err != nil {
		return storage.Caller{}, nil, err
	}
	return v.Caller, entryOf(r).account, nil
}

// entryOf returns the entry of an admitted request.
func entryOf(r *http.Request) *entry { return reqctx.From(r.Context()).Entry.(*entry) }
