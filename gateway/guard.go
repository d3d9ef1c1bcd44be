package gateway

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/gateway/internal/repeat"
	"github.com/keystile/keystile/internal/connections"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/span"
	"github.com/keystile/keystile/storage"
)

// CallerFrom returns the caller that the bearer token of a guarded request identifies.
func CallerFrom(ctx context.Context) (storage.Caller, bool) {
	if v := reqctx.From(ctx); v != nil && v.Known {
		return v.Caller, true
	}
	return storage.Caller{}, false
}

// Guard is the middleware of a service: it requires a bearer token, enforces the
// application's rate, charges each call that the service answers to the application's
// quota of the product, and writes it to the audit trail. The service finds the caller
// with CallerFrom.
//
// A call is charged when its answer begins, so nobody is answered unless it was counted.
// The service's own 5xx is charged, and counted as an error; its 401 and 429 are not. With
// the product "" nothing is charged: the service does that itself (see Charge).
//
// Guard works without Front before it, but then there are no CORS headers, and what is
// served beside it has no rate. It panics if the Config does not know the product: that is a
// mistake in the program, and its calls would be on no bill that anybody looks at.
//
// A call that goes on when its token ends, is revoked, or when its application is disabled, ends with it (decision 98):
// the service's context ends, whose cause is ErrEnded, and two seconds later what it writes fails, and its connection
// is closed, even if it has taken that over. See Config.StreamLife.
//
// Trailers of a request are not forwarded: nothing has checked them when the service is called, and a service that
// reads them as headers would accept a forged caller. Neither are headers by which a client says who or where it is,
// or that another request is meant, nor those that may be read as such (see Proxy). X-Forwarded-For, -Host and -Proto,
// where they are sent, say what the gateway knows. Cookies stay, and what the service answers leaves as it is: it is
// part of this program.
func (g *Gateway) Guard(product string, service http.Handler) http.Handler {
	return g.guard(guard{product: product}, service)
}

// Meter is Guard for a handler of Keystile itself, such as userinfo: requests without a
// token pass and are refused there, and its 5xx are not charged.
func (g *Gateway) Meter(product string, service http.Handler) http.Handler {
	return g.guard(guard{product: product, open: true, own: true}, service)
}

// Charge counts one call of a product against the quota of the caller's account (storage.Caller),
// and as an error too if the product failed. It is for services that know better than Guard
// what a call is, such as the tool bus, which gives the tool's full name; "": no tool. took is how
// long the product took to its verdict, which is when it is charged; 0: not known. Call it
// before the answer leaves; if it fails, the call is not counted and must not be answered.
func (g *Gateway) Charge(caller storage.Caller, product, tool string, took time.Duration, failed bool) error {
	return g.charge(&caller, caller.Account(), product, ledger.Detail{Tool: tool, Took: took}, time.Now(), failed)
}

// charge counts a call of a caller's account, whose Detail lacks nothing but the user and the agent.
func (g *Gateway) charge(caller *storage.Caller, account, product string, by ledger.Detail, at time.Time,
	failed bool) error {
	if account == caller.AppID { // else it is one user's
		by.User = caller.UserID
	}
	if len(caller.Actors) > 0 && caller.Actors[0] != caller.AppID {
		by.Agent = caller.Actors[0]
	}
	if err := g.ledger.ChargeDetailed(account, product, by, at, failed); err != nil {
		g.uncounted.Add(1)
		return fmt.Errorf("gateway: %w", err)
	}
	g.charged.Add(1)
	return nil
}

// guard holds what differs between guarded handlers.
type guard struct {
	product string
	open    bool // requests without a valid token pass too: the service refuses them itself
	own     bool // the service is part of Keystile: its 5xx are ours, and not charged
	keyless bool // an Idempotency-Key is not for the guard

	uploadRate int // bytes a second that a caller's body has to come at; 0: defaultUploadRate

	elsewhere bool // the service is in another process: Proxy cleans what goes there, and what comes back
}

// defaultUploadRate lets the body of a caller with a token come as slowly as phones send (decision 58).
const defaultUploadRate = 8 << 10

func (g *Gateway) guard(c guard, service http.Handler) http.Handler {
	if err := g.products.check(c.product); err != nil {
		panic("gateway: " + err.Error())
	}
	return g.spans.Handler(nil, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.spans != nil {
			span.Of(r.Context()).Set("keystile.product", c.product)
		}
		r, v, room := begin(w, r) // a copy of what net/http reads the body for
		r.Trailer = nil           // so no service sees the request's trailers
		began := v.Now()
		err := g.admit(w, r, v, room)
		if !c.own && !c.elsewhere {
			r = addressOf(g.c.ClientIP).withoutClaims(r)
		}
		out := &v.Entry.(*entry).answer
		if out.guard != nil { // a Guard inside another
			out = new(answer)
		}
		*out = answer{ResponseWriter: w, gateway: g, request: r, visit: v, guard: &c, began: began}
		defer out.close()
		if err == nil && !c.open {
			err = checkAdmitted(v)
		}
		if v.Known && r.Body != nil && r.Body != http.NoBody {
			connections.SetBodyRate(r.Context(), cmp.Or(c.uploadRate, defaultUploadRate))
		}
		if err == nil && r.Header[repeat.Header] != nil {
			err = g.readKey(r, v, &c)
		}
		if err != nil {
			out.ours = true
			g.refuse(out, r, err)
			return
		}
		if g.watch(w, v) {
			defer v.Entry.(*entry).stream.Leave()
		}
		service.ServeHTTP(out, r)
		out.begin(http.StatusOK)
		if v.Entry.(*entry).stream.Ended() && !out.ours {
			panic(http.ErrAbortHandler) // so that nobody takes half an answer for a whole one
		}
	}))
}

// checkAdmitted returns why a request is refused, nil if it is not. A token for one of the other
// Resources is accepted only by handlers that verify it themselves, such as the tool bus.
func checkAdmitted(v *reqctx.Visit) error {
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
	reply.Fail(g.c.Log, w, r, err, g.failFunc(r))
}
