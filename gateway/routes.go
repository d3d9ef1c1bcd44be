package gateway

import (
	"context"
	"net/http"

	"github.com/keystile/keystile/gateway/internal/appsapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Paths of the endpoints (protocol 4.7).
const (
	pathQuota  = "/api/v1/quota"
	pathUsage  = "/api/v1/usage"
	pathPlans  = "/api/v1/billing/plans"
	pathVerify = "/api/v1/verify"
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
	return append(routes, appsapi.New(appsapi.Config{
		Store: g.c.Store, Billing: g.billing, ClientIP: g.c.ClientIP,
		Acts: appacts.New(appacts.Config{
			Store: g.c.Store, Billing: g.billing, Forget: g.Forget,
			Revoke:   func(ctx context.Context, rs ...driver.Revocation) error { return g.c.Tokens.Revoke(ctx, rs...) },
			Recorder: admin.Recorder{Trail: g.c.Trail, Notifier: g.c.Notifier},
		}),
		Caller: func(r *http.Request) (storage.Caller, storage.App, error) {
			caller, account, err := g.caller(r)
			if err != nil {
				return caller, storage.App{}, err
			}
			return caller, account.App, nil
		},
	}).Routes()...)
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
