package gateway

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/storage"
)

// CallerFrom returns whom the bearer token of a guarded request speaks for.
func CallerFrom(ctx context.Context) (storage.Caller, bool) {
	if v := reqctx.From(ctx); v != nil && v.Known {
		return v.Caller, true
	}
	return storage.Caller{}, false
}

// Guard stands before a service: it asks for a bearer token, keeps the application's rate,
// charges each call that the service answers to the application's quota of the product,
// and writes it on the audit trail. The service finds the caller with CallerFrom.
//
// A call is charged when its answer begins, so nobody is answered unless it was counted.
// The service's own 5xx is charged, and counted as an error; its 401 and 429 are not. With
// the product "" nothing is charged: the service does that itself (see Charge).
//
// Guard works without Front before it, but then there are no CORS headers, and what is
// served beside it has no rate. It panics if the Config does not know the product: that is a
// mistake in the program, and its calls would be on no bill that anybody looks at.
//
// Trailers of a request are not handed on: nothing has looked at them when the service is
// asked, and a service that reads them as headers would take a client's word for who calls.
func (g *Gateway) Guard(product string, service http.Handler) http.Handler {
	return g.guard(guard{product: product}, service)
}

// Meter is Guard for a part of Keystile, such as userinfo: who has no token is let in too
// and refused there, and its 5xx are our own and not charged.
func (g *Gateway) Meter(product string, service http.Handler) http.Handler {
	return g.guard(guard{product: product, open: true, own: true}, service)
}

// Charge counts one call of a product against the quota of the caller's application, and
// as an error too if the product failed. It is for services that know better than a Guard
// what a call is, such as the tool bus: it is called before the answer leaves, and if it
// fails the call is not counted, and must not be answered.
func (g *Gateway) Charge(caller storage.Caller, product string, failed bool) error {
	if err := g.ledger.Charge(caller.AppID, product, time.Now(), failed); err != nil {
		g.uncounted.Add(1)
		return fmt.Errorf("gateway: %w", err)
	}
	g.charged.Add(1)
	return nil
}

// guard is what differs between the doors that are watched.
type guard struct {
	product string
	open    bool // whoever has no good token is let in all the same: the service says no itself
	own     bool // the service is part of Keystile: its 5xx are ours, and not charged
}

func (g *Gateway) guard(c guard, service http.Handler) http.Handler {
	if err := g.products.check(c.product); err != nil {
		panic("gateway: " + err.Error())
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, v := reqctx.Begin(w, r) // a copy of what net/http reads the body for
		r.Trailer = nil            // so what stands behind the body is told to no service
		began := time.Now()
		err := g.admit(r, v)
		out := &v.Entry.(*entry).answer
		if out.guard != nil { // a guard behind a guard
			out = new(answer)
		}
		*out = answer{ResponseWriter: w, gateway: g, request: r, visit: v, guard: &c, began: began}
		defer out.close()
		if err == nil && !c.open {
			err = admits(v)
		}
		if err != nil {
			out.ours = true
			g.refuse(out, r, err)
			return
		}
		service.ServeHTTP(out, r)
		out.begin(http.StatusOK)
	})
}

// admits says why a request may not come in. A token for one of the other Resources opens
// only what looks for it itself, such as the tool bus.
func admits(v *reqctx.Visit) error {
	e := v.Entry.(*entry)
	switch {
	case !v.Known:
		return e.refused
	case e.elsewhere:
		return badToken
	}
	return nil
}

func (g *Gateway) refuse(w http.ResponseWriter, r *http.Request, err error) {
	reply.Fail(g.c.Log, w, r, err, nil)
}
