package remote

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/dpop"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
)

// The refusals of this package, with the section it comes from.
var (
	// protocol 5, RFC 6750 3.1
	noToken = &reply.Failure{Status: 401, Msg: "an access token is needed: send Authorization: Bearer <access_token>"}
	// protocol 5, RFC 6750 3.1
	badToken = &reply.Failure{Status: 401, Msg: "the access token is invalid, expired or revoked: get a new one"}
	// RFC 6750 3.1
	noScope = &reply.Failure{Status: 403,
		Msg: "the scope of this token is not enough: have the user authorize it with more"}
	// protocol 7, 8
	overRate = &reply.Failure{Status: 429, Msg: "this application is over its rate: wait as long as Retry-After says"}
	// RFC 9110 15.6.4
	notNow = &reply.Failure{Status: 503, Msg: "the access token cannot be judged now: try again shortly",
		Header: http.Header{"Retry-After": {"1"}}}
)

// guard holds what a handler requires of tokens, and its refusals with their challenges (RFC 6750 3).
type guard struct {
	audiences, scopes          []string
	needs                      string // of a challenge, beside its error
	noToken, badToken, noScope *reply.Failure
}

// newGuard makes a guard. Its challenges name the document of a resource, if there is one (RFC 9728 5.1).
func newGuard(audiences, scopes []string, document string) guard {
	scope := `scope="` + strings.Join(scopes, " ") + `"`
	var where []string
	if document != "" {
		where = []string{`resource_metadata="` + document + `"`}
	}
	asked := where
	if document != "" && len(scopes) > 0 {
		asked = append(asked, scope)
	}
	challenge := func(f *reply.Failure, params ...string) *reply.Failure {
		return f.With("WWW-Authenticate", strings.TrimSpace("Bearer "+strings.Join(params, ", ")))
	}
	none := challenge(noToken, asked...)
	none.Header["Www-Authenticate"] = append(none.Header["Www-Authenticate"], dpop.Challenge)
	return guard{audiences: audiences, scopes: slices.Clone(scopes), needs: strings.Join(asked, ", "),
		noToken:  none,
		badToken: challenge(badToken, append([]string{`error="invalid_token"`}, asked...)...),
		noScope:  challenge(noScope, append([]string{`error="insufficient_scope"`, scope}, where...)...),
	}
}

type callerKey struct{}

// CallerFrom returns the caller that the bearer token of a request behind Require identifies.
func CallerFrom(ctx context.Context) (storage.Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(storage.Caller)
	return c, ok
}

// Require returns a middleware that requires an access token with all these scopes. The handler
// behind it finds the caller with CallerFrom. Others are answered with 401, 403, 429 or 503, in
// JSON, with the challenge of RFC 6750.
func (v *Verifier) Require(scopes ...string) func(http.Handler) http.Handler {
	g := newGuard(v.c.Audiences, scopes, "")
	return func(next http.Handler) http.Handler { return v.guarded(g, next) }
}

func (v *Verifier) guarded(g guard, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := v.caller(w, r, g)
		if err != nil {
			reply.Fail(v.c.Log, w, r, err, nil)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, caller)))
	})
}

// caller returns the caller of a request, or the failure to answer with.
func (v *Verifier) caller(w http.ResponseWriter, r *http.Request, g guard) (storage.Caller, error) {
	c, err := dpop.Read(w.Header(), r)
	switch {
	case errors.Is(err, token.ErrNoToken):
		return storage.Caller{}, g.noToken
	case err != nil:
		return storage.Caller{}, g.badToken.Because(err)
	}
	caller, err := c.Verify(r.Context(), verifies{v}, g.audiences...)
	if dpop.Refused(err) != nil {
		return caller, dpop.Explain(g.badToken, err, g.needs)
	}
	var why *Error
	if errors.As(err, &why) {
		switch why.Status {
		case http.StatusUnauthorized:
			return caller, g.badToken.Because(err)
		case http.StatusTooManyRequests:
			return caller, overRate.With("Retry-After", strconv.Itoa(int(why.RetryAfter/time.Second))).Because(err)
		}
		return caller, notNow.Because(err)
	}
	for _, s := range g.scopes {
		if err == nil && !scope.Has(caller.Scope, s) {
			return caller, g.noScope
		}
	}
	return caller, err
}
