package gateway

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/gateway/internal/streams"
	"github.com/keystile/keystile/internal/cors"
	"github.com/keystile/keystile/internal/dpop"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/urlpath"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
)

// entry is the gateway's state of an admitted request.
type entry struct {
	gateway   *Gateway
	now       time.Time        // when it was admitted or refused
	account   *account         // the application whose rate it counts against; nil: the address's rate
	key       string           // under which it is counted there: storage.Caller.Account
	refused   error            // why its bearer token is not valid
	verdict   counters.Verdict // of the limiter
	request   *http.Request    // as it came
	over      error            // the refusal of its address, once it counts against that
	undo      func()           // removes it from its address's count; nil: it does not count there
	verified  *verifiedCall    // the call that a proxy asks about; nil: none
	keyed     *keyed           // nil: it has no Idempotency-Key, or that concerns no charge
	statement string           // by which the service learns who calls; "": by none
	reached   atomic.Bool      // it has begun to reach an upstream service
	elsewhere bool             // its token is for one of the other Resources
	bearer    string           // the token of a caller who is known
	visit     *reqctx.Visit    // whose Entry it is; nil: it is not watched
	stream    streams.Stream   // ends it with its token; watched if its caller is known
	answer    answer           // of the outermost Guard
}

// Front is the outermost middleware of a service. It answers preflights, sets the CORS headers and
// that of Config.HSTS, and counts each request once (protocol 8): against the account that a
// valid bearer token names, or else against its address. If a handler behind it identifies the
// caller later, the count moves (see package internal/reqctx).
func (g *Gateway) Front(next http.Handler) http.Handler {
	uncounted := func(r *http.Request) bool { return g.cors.IsPreflight(r) || g.exempt.Covers(r.URL.Path) }
	return g.spans.Handler(uncounted, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		if g.cors.IsPreflight(r) {
			g.setHSTS(h, new([1]string))
			g.cors.Preflight(w, r)
			return
		}
		if g.exempt.Covers(r.URL.Path) {
			g.setHSTS(h, new([1]string))
			g.cors.Headers(h, r, new(cors.Room))
			next.ServeHTTP(w, r)
			return
		}
		r, v, room := begin(w, r)
		g.setHSTS(h, (*[1]string)(v.Room[:1]))
		g.cors.Headers(h, r, (*cors.Room)(v.Room[1:]))
		if isDocument(r) {
			next.ServeHTTP(w, r)
			return
		}
		if err := g.admit(w, r, v, room); err != nil {
			g.fail(w, r, err)
			return
		}
		if g.watch(w, v) {
			defer v.Entry.(*entry).stream.Leave()
		}
		next.ServeHTTP(w, r)
	}))
}

// begin begins a request, if nobody has, and returns memory for its entry: all of it is one allocation.
// The memory is nil if the request was begun elsewhere.
func begin(w http.ResponseWriter, r *http.Request) (*http.Request, *reqctx.Visit, *entry) {
	if v := reqctx.From(r.Context()); v != nil {
		return r, v, nil
	}
	both := new(struct {
		visit reqctx.Visit
		entry entry
	})
	r = reqctx.BeginIn(&both.visit, w, r)
	both.entry.now = both.visit.Began
	return r, &both.visit, &both.entry
}

// admit counts a request, once, and keeps what it finds out in e; nil: in memory of its own. It fails if
// there were too many, or if the caller cannot be identified now.
func (g *Gateway) admit(w http.ResponseWriter, r *http.Request, v *reqctx.Visit, e *entry) (err error) {
	if v.Entry != nil {
		return nil
	}
	if e == nil {
		e = &entry{now: v.Now()}
	}
	e.gateway, e.request = g, r
	v.Entry = e
	now := e.now
	if err = g.identify(w, r, v, e, now); err == nil {
		if e.undo != nil { // a key was looked up
			e.undo()
		}
		e.verdict = g.limiter.Allow(r.Context(), e.key, e.account.plan.PerMinute, now)
		return g.rateRefusal(e, tooManyByApp)
	}
	trouble := false
	if e.refused, trouble = badBearer(err); trouble {
		v.Trouble = e.refused
	}
	err = e.Hold()
	v.Mover = e
	if err != nil && trouble {
		return e.refused // the token may be valid, and then the address has no part in it
	}
	return err
}

// Hold implements reqctx.Holder.
func (e *entry) Hold() error {
	if e.account == nil && e.undo == nil {
		g, r := e.gateway, e.request
		e.verdict, e.undo = g.limiter.HoldAddress(r.Context(), g.c.ClientIP(r), g.c.PerAddress, e.now)
		e.over = g.rateRefusal(e, tooManyByAddress)
	}
	return e.over
}

// identify verifies the request's access token, and its proof if it has one, and finds its account.
func (g *Gateway) identify(w http.ResponseWriter, r *http.Request, v *reqctx.Visit, e *entry, now time.Time) error {
	c, err := dpop.Read(w.Header(), r)
	if err != nil {
		return err
	}
	if c.Proves() && strings.HasPrefix(r.URL.Path, pathVerify) {
		c = provesVerified(c, g.verifiedCallOf(r, ""), r)
	}
	caller, err := c.Verify(r.Context(), g.c.Tokens)
	if errors.Is(err, ErrInvalidToken) && len(g.resources) > 0 && dpop.Refused(err) == nil {
		caller, err = c.Verify(r.Context(), g.c.Tokens, g.resources...)
		e.elsewhere = true
	}
	if err != nil {
		return err
	}
	e.account, err = g.accounts.of(r.Context(), caller.AppID, now)
	if err == nil && e.account.Disabled {
		e.account, err = nil, storage.ErrNotFound
	}
	if err == nil {
		v.Caller, v.Known, e.key, e.bearer = caller, true, caller.Account(), c.Token
	}
	return err
}

// Move implements reqctx.Mover: it takes a request off its address's count and puts it on an application's.
//
// Ten people in an office have one address, and each sign-in by an agent is 10 to 20 requests, so requests of a
// known user count for the user: a live session (60 a minute each, and four times that for all sessions of a
// user), a code that is redeemed and a token that is refreshed (60), a sign-in that succeeds (6: a password
// takes long to check). Beyond these a session is refused, and the others count against the address as before.
// A failure always does, and so does an invalid cookie. Of the requests of a sign-in three to five stay with
// the address. An address that strangers have used up refuses those with a session too: only the handlers
// behind Front know whether a cookie is valid.
func (e *entry) Move(ctx context.Context, app storage.App) error {
	g, now := e.gateway, time.Now()
	e.undo()
	e.account, e.key = g.accounts.open(app, now), app.ID
	e.verdict = g.limiter.Allow(ctx, e.key, e.account.plan.PerMinute, now)
	return g.rateRefusal(e, tooManyByApp)
}

// MoveTo implements reqctx.Mover: it takes a request off its address's count and puts it on a user's.
func (e *entry) MoveTo(ctx context.Context, refuse bool, keys ...reqctx.Key) error {
	g, now := e.gateway, time.Now()
	for _, k := range keys {
		most := g.c.PerAddress
		if most != counters.Unlimited {
			most = max(1, int(float64(most)*k.Share))
		}
		v := g.limiter.Allow(ctx, k.Name, most, now)
		switch {
		case v.OK:
		case !refuse:
			return nil
		default:
			e.verdict = v
			if err := g.rateRefusal(e, tooManyByUser); err != nil {
				e.undo()
				return err
			}
		}
	}
	e.undo()
	return nil
}

// isDocument reports whether a request reads one of the documents by which MCP clients find out how
// to sign in (RFC 9728, RFC 8414). Each sign-in reads them several times; they are in memory, and free
// as static assets are (decision 24).
//
// The documents by which MCP clients find out how to sign in are free, because each client reads them twice;
// openid-configuration and the keys, which servers read and keep, are not.
func isDocument(r *http.Request) bool {
	rest, ok := strings.CutPrefix(r.URL.Path, "/.well-known/oauth-")
	if !ok || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	name, _, _ := strings.Cut(rest, "/")
	return name == "protected-resource" || name == "authorization-server"
}

// Count implements reqctx.Counter.
func (e *entry) Count(ctx context.Context, n int) error {
	if e.account == nil { // anonymous requests have no calls to count
		return nil
	}
	for now := time.Now(); n > 0; n-- {
		e.verdict = e.gateway.limiter.Allow(ctx, e.key, e.account.plan.PerMinute, now)
		if err := e.gateway.rateRefusal(e, tooManyByApp); err != nil {
			return err
		}
	}
	return nil
}

// rateRefusal returns the refusal of a request that is over its rate, nil if it is within it or let through.
func (g *Gateway) rateRefusal(e *entry, f *reply.Failure) error {
	if e.verdict.OK || g.letThrough(e, f) {
		return nil
	}
	g.overRate.Add(1)
	refused := *f
	refused.Header = e.verdict.RetryHeaders()
	return &refused
}

// fail writes a refusal: a page for a browser, JSON for a program.
func (g *Gateway) fail(w http.ResponseWriter, r *http.Request, err error) {
	write := g.failFunc(r)
	if write == nil && (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		strings.Contains(r.Header.Get("Accept"), "text/html") {
		write = failPage
	}
	reply.Fail(g.c.Log, w, r, err, write)
}

// failFunc returns how a refusal at a path is written; nil: as JSON.
func (g *Gateway) failFunc(r *http.Request) reply.FailFunc {
	of := g.errorWriter(r.URL.Path)
	if of == nil {
		return nil
	}
	return func(w http.ResponseWriter, r *http.Request, f *reply.Failure) { of(w, r, f.Status, f.Msg) }
}

// errorWriter returns the writer of the longest path that covers this one, nil if none does.
func (g *Gateway) errorWriter(path string) (write func(http.ResponseWriter, *http.Request, int, string)) {
	longest := ""
	for at, v := range g.c.ErrorWriters {
		if len(at) > len(longest) && urlpath.Covers([]string{at}, path) {
			write, longest = v, at
		}
	}
	return write
}

func failPage(w http.ResponseWriter, r *http.Request, f *reply.Failure) {
	page.Fail(w, r, f.Status, "This request cannot go on", f.Msg)
}
