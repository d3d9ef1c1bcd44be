package remote

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
)

// The refusals of this package, with the section it comes from.
var (
	// protocol 5, RFC 6750 3.1
	noToken = &reply.Failure{Status: 401, Msg: "an access token is needed: send Authorization: Bearer <access_token>",
		Header: http.Header{"Www-Authenticate": {`Bearer`}}}
	// protocol 5, RFC 6750 3.1
	badToken = &reply.Failure{Status: 401, Msg: "the access token is invalid, expired or revoked: get a new one",
		Header: http.Header{"Www-Authenticate": {`Bearer error="invalid_token"`}}}
	// RFC 6750 3.1
	noScope = &reply.Failure{Status: 403,
		Msg: "the scope of this token is not enough: have the user authorize it with more"}
	// protocol 7, 8
	overRate = &reply.Failure{Status: 429, Msg: "this application is over its rate: wait as long as Retry-After says"}
	// RFC 9110 15.6.4
	notNow = &reply.Failure{Status: 503, Msg: "the access token cannot be judged now: try again shortly",
		Header: http.Header{"Retry-After": {"1"}}}
)

type callerKey struct{}

// CallerFrom returns the caller that the bearer token of a request behind Require identifies.
func CallerFrom(ctx context.Context) (storage.Caller, bool) {
	c, ok := ctx.Value(callerKey{}).(storage.Caller)
	return c, ok
}

// Require returns a middleware that requires a bearer token with all these scopes. The handler
// behind it finds the caller with CallerFrom. Others are answered with 401, 403, 429 or 503, in
// JSON, with the challenge of RFC 6750.
func (v *Verifier) Require(scopes ...string) func(http.Handler) http.Handler {
	missing := noScope.With("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+strings.Join(scopes, " ")+`"`)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			caller, err := v.caller(r)
			for _, s := range scopes {
				if err == nil && !scope.Has(caller.Scope, s) {
					err = missing
				}
			}
			if err != nil {
				reply.Fail(v.c.Log, w, r, err, nil)
				return
			}
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, caller)))
		})
	}
}

// caller returns the caller of a request, or the failure to answer with.
func (v *Verifier) caller(r *http.Request) (storage.Caller, error) {
	bearer, err := token.Bearer(r)
	switch {
	case errors.Is(err, token.ErrNoToken):
		return storage.Caller{}, noToken
	case err != nil:
		return storage.Caller{}, badToken.Because(err)
	}
	caller, err := v.Verify(r.Context(), bearer)
	var why *Error
	if !errors.As(err, &why) {
		return caller, err
	}
	switch why.Status {
	case http.StatusUnauthorized:
		return caller, badToken.Because(err)
	case http.StatusTooManyRequests:
		return caller, overRate.With("Retry-After", strconv.Itoa(int(why.RetryAfter/time.Second))).Because(err)
	}
	return caller, notNow.Because(err)
}
