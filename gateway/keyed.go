package gateway

import (
	"context"
	"crypto/sha256"
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/gateway/internal/repeat"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/storage"
)

// maxFreeRepeats bounds Config.FreeRepeats: each is a call that a service answers and nobody pays for.
const maxFreeRepeats = 100

// keyed is the Idempotency-Key of a request.
type keyed struct {
	key  string
	body *repeat.Body // nil: it has none, or that is not read here
}

// readKey reads the key of a request that may be charged. One that is none is refused before the
// service is called: its client believes that a repetition is free.
func (g *Gateway) readKey(r *http.Request, v *reqctx.Visit, c *guard) error {
	if g.repeats == nil || c.keyless || !v.Known {
		return nil
	}
	key, err := repeat.ParseKey(r.Header[repeat.Header])
	if err != nil {
		return badKey.Saying("the Idempotency-Key cannot be read: " + err.Error() + ". Send one of up to 255 characters, such as a UUID").Because(err)
	}
	e := v.Entry.(*entry)
	if e.keyed == nil {
		e.keyed = &keyed{key: key}
	}
	if c.product != "" && e.keyed.body == nil && r.Body != nil && r.Body != http.NoBody {
		e.keyed.body = repeat.NewBody(r.Body, r.ContentLength)
		r.Body = e.keyed.body
	}
	return nil
}

// readVerifiedKey reads the key of a call that a proxy asks about. One that is none is passed over: of
// what is refused here, some proxies make a failure of their own. Where the call's path is not known,
// any call would look like a repetition, and there are none.
func (g *Gateway) readVerifiedKey(r *http.Request, e *entry) {
	if g.repeats == nil || !e.verified.reported || r.Header[repeat.Header] == nil {
		return
	}
	if key, err := repeat.ParseKey(r.Header[repeat.Header]); err == nil {
		e.keyed = &keyed{key: key}
	}
}

// chargeKeyed charges a call that has a key, unless it is a repetition. A body that nobody has read to
// its end makes a call that is like no other.
func (a *answer) chargeKeyed(e *entry, took time.Duration, failed bool) (err error) {
	g, caller, product := a.gateway, &a.visit.Caller, e.productOr(a.guard.product)
	charge := func() error {
		return g.charge(caller, e.key, product, ledger.Detail{Took: took}, a.began.Add(took), failed)
	}
	c := repeat.Call{
		Account: e.key, User: caller.UserID, Product: product, Key: e.keyed.key,
		Method: e.request.Method, Path: e.request.URL.EscapedPath(), Query: e.request.URL.RawQuery,
	}
	if e.verified != nil {
		c.Method, c.Path, c.Query = e.verified.method, e.verified.path, ""
	}
	if body := e.keyed.body; body != nil {
		sum, whole := body.Sum()
		if !whole {
			return charge()
		}
		c.Body = sum
	}
	a.repeated, err = g.repeats.Charge(c, a.visit.Now(), charge)
	return err
}

// ChargeOnce is Charge of a call that its client may repeat. If the request of ctx carries an Idempotency-Key,
// and the same user of the same account has been charged for the same tool with the same content
// under that key within 24 hours, it is not charged again: see Config.FreeRepeats. It may wait for the store
// then, for two seconds at most.
func (g *Gateway) ChargeOnce(ctx context.Context, caller storage.Caller, product, tool string, content []byte, took time.Duration, failed bool) error {
	if v := reqctx.From(ctx); v != nil {
		if e, ok := v.Entry.(*entry); ok && e.keyed != nil {
			c := repeat.Call{
				Account: caller.Account(), User: caller.UserID, Product: product, Tool: tool,
				Key: e.keyed.key, Body: sha256.Sum256(content),
			}
			_, err := g.repeats.Charge(c, v.Now(), func() error { return g.Charge(caller, product, tool, took, failed) })
			return err
		}
	}
	return g.Charge(caller, product, tool, took, failed)
}
