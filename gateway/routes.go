package gateway

import (
	"context"
	"net/http"
	"slices"

	"github.com/keystile/keystile/gateway/internal/accountapi"
	"github.com/keystile/keystile/gateway/internal/appsapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
)

const pathVerify = "/api/v1/verify" // protocol 4.7

// routes lists every endpoint of this package.
func (g *Gateway) routes() []reply.Route {
	return slices.Concat(
		accountapi.New(accountapi.Config{Billing: g.billing, Reader: g.reader, Products: g.products.all(),
			Groups: g.c.Store,
			Caller: func(r *http.Request) (storage.Caller, storage.App, error) {
				caller, account, err := g.caller(r)
				if err != nil {
					return caller, storage.App{}, err
				}
				return caller, account.payer(caller), nil
			},
			Rate: func(r *http.Request) counters.Verdict { return entryOf(r).verdict },
		}).Routes(),
		[]reply.Route{
			{Path: pathVerify, Handle: g.verify}, // proxies ask in any method, and some put the path behind it
			{Path: pathVerify + "/{path...}", Handle: g.verify},
		},
		appsapi.New(appsapi.Config{
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
		}).Routes())
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
