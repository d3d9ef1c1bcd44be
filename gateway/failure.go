package gateway

import (
	"errors"
	"net/http"

	"github.com/keystile/keystile/gateway/internal/accountapi"
	"github.com/keystile/keystile/internal/dpop"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
)

var (
	// ErrInvalidToken is returned by Tokens.Verify for a token that is not valid. It is the
	// same value as oauth.ErrInvalidToken.
	ErrInvalidToken = token.ErrInvalid

	// ErrEnded is the cause (context.Cause) for which the context of a call ends with its token, or after
	// Config.StreamLife: its client may still be there.
	ErrEnded = reqctx.ErrEnded
)

// The refusals of this package, with the section it comes from; those of
// internal/accountapi and appsapi are there.
var (
	// protocol 5, RFC 6750 3.1
	noToken = &reply.Failure{Status: 401, Msg: "an access token is needed: send Authorization: Bearer <access_token>",
		Header: http.Header{"Www-Authenticate": {`Bearer`, dpop.Challenge}}}
	// protocol 5, RFC 6750 3.1
	badToken = &reply.Failure{Status: 401, Msg: "the access token is invalid, expired or revoked: get a new one",
		Header: http.Header{"Www-Authenticate": {`Bearer error="invalid_token"`}}}
	// protocol 5, decision 98
	callEnded = &reply.Failure{Status: 401,
		Msg:    "the call was ended, because its access token has ended or it took too long: get a new token, and call again",
		Header: http.Header{"Www-Authenticate": {`Bearer error="invalid_token"`}}}
	// protocol 7, 8
	tooManyByApp = &reply.Failure{Status: 429,
		Msg: "this application is over its rate: wait as long as Retry-After says"}
	// protocol 7, 8
	tooManyByAddress = &reply.Failure{Status: 429, Msg: "too many requests without a valid access token from this " +
		"address: wait as long as Retry-After says, or send a token"}
	// protocol 7, 8
	tooManyByUser = &reply.Failure{Status: 429, OAuth: "temporarily_unavailable",
		Msg: "too many requests of this session, or of all sessions of its user: wait as long as Retry-After says"}
	// protocol 7
	badPath = &reply.Failure{Status: 400, Msg: "the path holds the segment . or ..: send it resolved"}
	// protocol 7
	badPrefix = &reply.Failure{Status: 400, Msg: "the path does not begin as the service's do"}
	// draft-ietf-httpapi-idempotency-key-header 2.7
	badKey = &reply.Failure{Status: 400, Msg: "the Idempotency-Key is none"}
	// protocol 7
	badProduct = accountapi.BadProduct
	// RFC 9110 15.6.4
	stale = &reply.Failure{Status: 503, Msg: "revocations cannot be read: try again shortly",
		Header: http.Header{"Retry-After": {"1"}}, Crowd: new(reply.Crowd)}
	// protocol 8
	notCharged = &reply.Failure{Status: 503, Msg: "this call could not be counted, so it is not answered: try " +
		"again shortly", Header: http.Header{"Retry-After": {"1"}}}
	// RFC 9110 15.6.3
	badGateway = &reply.Failure{Status: 502,
		Msg: "the service behind this address does not answer: try again shortly"}
	// RFC 9110 15.6.5
	slowGateway = &reply.Failure{Status: 504, Msg: "the service behind this address took too long: try again shortly"}
	// RFC 9110 15.6.4
	busyGateway = &reply.Failure{Status: 503, Msg: "too many calls wait for the service behind this address: try " +
		"again shortly", Header: http.Header{"Retry-After": {"1"}}, Crowd: new(reply.Crowd)}
	// RFC 9110 15.6.4
	noStatement = &reply.Failure{Status: 503, Msg: "the service behind this address cannot be told who calls now: try " +
		"again shortly", Header: http.Header{"Retry-After": {"1"}}}
	// RFC 9110 15.6.4
	closing = &reply.Failure{Status: 503, Msg: "this service is being stopped: try again shortly",
		Header: http.Header{"Retry-After": {"1"}}}
	// RFC 9112 8
	cutBody = &reply.Failure{Status: 400, Msg: "the request's body ended before its time: send all of it"}
	// of no RFC, and nobody is there to read it: the audit trail tells it from a service's failure
	clientGone = &reply.Failure{Status: 499, Msg: "the client has gone away"}
)

func isNotFound(err error) bool { return errors.Is(err, storage.ErrNotFound) }

// badBearer returns the refusal for a bearer token that is not valid. trouble is true if
// it could not be verified.
func badBearer(err error) (refused error, trouble bool) {
	switch {
	case errors.Is(err, token.ErrNoToken):
		return noToken, false
	case errors.Is(err, ErrInvalidToken), isNotFound(err):
		return dpop.Explain(badToken, err, ""), false
	case errors.Is(err, token.ErrStale):
		return stale.Because(err), true
	}
	return err, true
}
