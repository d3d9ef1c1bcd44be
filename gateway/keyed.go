package gateway

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/gateway/internal/repeat"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/storage"
)

// maxFreeRepeats bounds Config.FreeRepeats: each is a call that a service answers and nobody pays for.
const maxFreeRepeats = 100

// longestRepeat bounds how long the answer to a repetition may go on until it is charged after all: a stream that
// is opened a second time is no lost answer.
const longestRepeat = time.Minute

// keyed is the Idempotency-Key of a request, and what else has to be the same for a repetition.
//
// A call is charged once however often its client repeats it under an Idempotency-Key
// (draft-ietf-httpapi-idempotency-key-header), for 24 hours and up to Config.FreeRepeats times; each attempt
// reaches the service, which does its own part, and counts against the rate. The key alone would be a way to
// have everything for one charge, so all that the service sees of the request must be the same: account, user,
// method, path, query, headers and the body, which is hashed as the service reads it. A body that it has not
// read to the end when it answers is unknown, and charged. Only headers that differ between attempts at one
// call are left out (package internal/repeat lists them). A WebSocket is charged each time, and so is the
// answer to a repetition that goes on for more than a minute. Only requests with a key wait for the store, in
// one step where it is their first, and a lookup that fails is charged.
type keyed struct {
	key     string
	headers [sha256.Size]byte // that the service sees
	body    *repeat.Body      // nil: it has none, or that is not read here
}

// readKey reads the key of a request that may be charged. One that is none is refused before the
// service is called: its client believes that a repetition is free.
func (g *Gateway) readKey(r *http.Request, v *reqctx.Visit, c *guard) error {
	if g.repeats == nil || c.keyless || !v.Known {
		return nil
	}
	key, err := repeat.ParseKey(r.Header[repeat.Header])
	if err != nil {
		return badKey.Saying("the Idempotency-Key cannot be read: " + err.Error() +
			". Send one of up to 255 characters, such as a UUID").Because(err)
	}
	e := v.Entry.(*entry)
	if e.keyed == nil {
		e.keyed = &keyed{key: key}
	}
	e.keyed.headers = repeat.HashHeaders(r.Header, g.madeHere(r, v), r.Host, v.Caller.Scope)
	if c.product != "" && e.keyed.body == nil && r.Body != nil && r.Body != http.NoBody {
		e.keyed.body = repeat.NewBody(r.Body, r.ContentLength)
		r.Body = e.keyed.body
	}
	return nil
}

// madeHere returns the name of a header that is of this attempt alone: the request's id, where this process has made
// it or a trusted proxy, which makes one for each request. "": there is none; an id that a client sends is a part
// of what it sends.
func (g *Gateway) madeHere(r *http.Request, v *reqctx.Visit) string {
	if v.Given && !g.proxies.Trusts(r) {
		return ""
	}
	return reqctx.Header
}

// readVerifiedKey reads the key of a call that a proxy asks about. One that is none is passed over: of
// what is refused here, some proxies make a failure of their own. Where it is not known what the call is,
// any call would look like a repetition, and there are none.
//
// Behind forward auth the body is not seen, so only GET and HEAD can be free, without any sign of a body or a
// stream, and only where a trusted proxy reports both method and path.
func (g *Gateway) readVerifiedKey(r *http.Request, e *entry) {
	if g.repeats == nil || r.Header[repeat.Header] == nil || !e.verified.isWhole(r) {
		return
	}
	if key, err := repeat.ParseKey(r.Header[repeat.Header]); err == nil {
		e.keyed = &keyed{key: key, headers: repeat.HashHeaders(r.Header, reqctx.Header, r.Host)}
	}
}

// isWhole reports whether the question of a proxy says all of the call that it asks about. Of a method that may have
// a body it does not: the body stays with the proxy. DELETE and OPTIONS are among these (RFC 9110 9.3.5, 9.3.7).
// Neither does it say what goes over a stream.
func (a *verifiedCall) isWhole(r *http.Request) bool {
	if !a.reported || a.method != http.MethodGet && a.method != http.MethodHead || r.ContentLength != 0 {
		return false
	}
	for _, name := range []string{"Content-Type", "Content-Encoding", "Transfer-Encoding", "Upgrade",
		"Sec-Websocket-Key"} {
		if r.Header[name] != nil {
			return false
		}
	}
	return !strings.Contains(strings.Join(r.Header["Accept"], ","), "text/event-stream")
}

// chargeKeyed charges a call that has a key, unless it is a repetition. A body that nobody has read to
// its end makes a call that is like no other, and so does a switched protocol: what is said then is not compared. An
// answer that goes on for longer than a repetition may is charged after all.
func (a *answer) chargeKeyed(e *entry, took time.Duration, failed bool) (err error) {
	g, caller, product := a.gateway, &a.visit.Caller, e.productOr(a.guard.product)
	charge := func() error {
		return g.charge(caller, e.key, product, ledger.Detail{Took: took}, a.began.Add(took), failed)
	}
	c := repeat.Call{
		Account: e.key, User: caller.UserID, Product: product, Key: e.keyed.key,
		Method: e.request.Method, Path: e.request.URL.EscapedPath(), Query: e.request.URL.RawQuery, Headers: e.keyed.headers,
	}
	if e.request.URL.ForceQuery {
		c.Path += "?" // which is sent, though nothing follows
	}
	if e.verified != nil {
		c.Method, c.Path, c.Query = e.verified.method, e.verified.path, ""
	}
	if a.status == http.StatusSwitchingProtocols {
		return charge()
	}
	if body := e.keyed.body; body != nil {
		sum, whole := body.Sum()
		if !whole {
			return charge()
		}
		c.Body = sum
	}
	if a.repeated, err = g.repeats.Charge(c, a.visit.Now(), charge); a.repeated && e.verified == nil {
		e.stream.ChargeLate(longestRepeat, func() error {
			return g.charge(caller, e.key, product, ledger.Detail{Took: took}, time.Now(), failed)
		})
	}
	return err
}

// ChargeOnce is Charge of a call that its client may repeat. If the request of ctx carries an Idempotency-Key,
// and the same user of the same account has been charged for the same tool with the same content
// under that key within 24 hours, it is not charged again: see Config.FreeRepeats. The content has to be all that
// the tool sees of the call. It may wait for the store then, for two seconds at most.
func (g *Gateway) ChargeOnce(ctx context.Context, caller storage.Caller, product, tool string, content []byte,
	took time.Duration, failed bool) error {
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
