package oauth

import (
	"errors"
	"net/http"

	"github.com/keystile/keystile/internal/dpop"
	"github.com/keystile/keystile/internal/md5sign"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/oauth/internal/clientdoc"
	"github.com/keystile/keystile/oauth/internal/engine"
	"github.com/keystile/keystile/oauth/internal/registration"
	"github.com/keystile/keystile/storage"
)

// All refusals of the provider, each with the section that demands it.
var (
	badRequest = &reply.Failure{Status: 400, OAuth: engine.InvalidRequest, Msg: "the request is malformed"} // RFC 6749 5.2

	// RFC 6749 4.1.2.1
	tooLong = badRequest.Saying("no page can keep this request until the user has answered: send less, above all in state")

	unknownApp = &reply.Failure{Status: 400, OAuth: engine.InvalidClient, // protocol 4.1
		Msg: "client_id is not that of an application here"}
	endedApp = &reply.Failure{Status: 400, OAuth: engine.InvalidClient, // protocol 4.1
		Msg: "this application has registered itself, and that has ended: it was removed, or nobody used it for a day. " +
			"Have the application forget its client_id and sign in again"}
	// protocol 4.1
	disabledApp = &reply.Failure{Status: 400, OAuth: engine.UnauthorizedClient, Msg: "this application is disabled"}
	// protocol 4.1, 5
	badRedirect = &reply.Failure{Status: 400, OAuth: engine.InvalidRequest, Msg: "redirect_uri is not allowed"}

	clientsOff = &reply.Failure{Status: 400, OAuth: engine.InvalidClient, // decision 55
		Msg: "client_id is the URL of a document, and applications that are not registered here are not admitted: ask the " +
			"operator of this service to register it"}
	clientUnlisted = &reply.Failure{Status: 400, OAuth: engine.InvalidClient, // decision 55
		Msg: "this application comes from a host that is not on the list of this service: use another application, or ask " +
			"the operator of this service to trust its host"}
	clientDenied = &reply.Failure{Status: 400, OAuth: engine.InvalidClient, // decision 55
		Msg: "the operator of this service does not admit applications from this host: use another application, or ask the " +
			"operator"}
	clientsBusy = &reply.Failure{Status: 429, OAuth: "temporarily_unavailable", // decision 55
		Msg: "too many applications are looked up for your network at this moment: wait before you try again."}
	badDocument = &reply.Failure{Status: 400, OAuth: engine.InvalidClient, // decision 55
		Msg: "this application cannot be used here because of what its own document says: tell who makes it"}
	documentAway = &reply.Failure{Status: 400, OAuth: engine.InvalidClient, // decision 55
		Msg: "this application could not be looked up: try again in a minute"}

	wrongClient = &reply.Failure{Status: 401, OAuth: engine.InvalidClient, // RFC 6749 5.2, RFC 7523 3.2
		Msg: "the application could not be authenticated"}

	badGrant      = &reply.Failure{Status: 400, OAuth: engine.InvalidGrant, Msg: "this cannot be redeemed"} // RFC 7523 3.1
	unknownIssuer = badGrant.Saying("assertion is of an issuer that is not trusted here: an operator trusts one with " +
		"keystile issuer add, or in assertions.issuers")

	// RFC 6749 4.1.2.1
	accessDenied = &reply.Failure{Status: 400, OAuth: "access_denied", Msg: "the user did not allow this"}

	// RFC 6749 4.1.2.1, decision 115
	mayNotUse = accessDenied.Saying("the user may not use this application: its owner or an administrator lets them in")

	noLevels = &reply.Failure{Status: 400, OAuth: engine.UnauthorizedClient, // decision 80
		Msg: "this application requires two factors, and this service cannot tell how many its users prove: its operator " +
			"sets Levels of the oauth.Config, such as to the *signin.SignIn"}

	badTicket = &reply.Failure{Status: 400, OAuth: engine.InvalidRequest, // protocol 4.10
		Msg: "this sign-in was not begun at /connect.php, or has expired after 10 minutes: start again there"}
	badTimestamp = &reply.Failure{Status: 400, OAuth: engine.InvalidRequest, Errcode: 105, // protocol 5, 7
		Msg: md5sign.ErrTimestamp.Error()}
	badRepeat = &reply.Failure{Status: 400, OAuth: engine.InvalidRequest, Errcode: 101, // protocol 5
		Msg: md5sign.ErrRepeated.Error()}
	badAmbiguous = &reply.Failure{Status: 400, OAuth: engine.InvalidRequest, Errcode: 101, // protocol 5
		Msg: md5sign.ErrAmbiguous.Error()}
	// protocol 5
	badSign = &reply.Failure{Status: 400, OAuth: engine.InvalidRequest, Errcode: 103, Msg: md5sign.ErrSign.Error()}

	badBasic = &reply.Failure{Status: 401, OAuth: engine.InvalidClient, // RFC 6749 2.3.1, 5.2
		Msg:    "the Authorization header is not Basic with client_id and client_secret: send them so, or in the form body",
		Header: http.Header{"Www-Authenticate": {basicChallenge}}}
	// RFC 6749 2.3
	twoWays = badRequest.Saying("the application authenticates in two ways: send client_id and client_secret in " +
		"the Authorization header or in the form body")
	secretNeeded = &reply.Failure{Status: 401, OAuth: engine.InvalidClient, // RFC 7662 2.1, 4
		Msg: "only an application with a client_secret may ask about tokens"}
	tooManyKeys = &reply.Failure{Status: 429, OAuth: "temporarily_unavailable", // protocol 7
		Msg: "too many wrong client secrets from this address: wait, then send the right one"}
	noDevices = &reply.Failure{Status: 404, OAuth: engine.InvalidRequest, // RFC 8628 3.1
		Msg: "this service does not offer the device grant: use the authorization endpoint"}
	// protocol 4.3, RFC 6750 3.1
	noToken = &reply.Failure{Status: 401, Msg: "an access token is needed: send Authorization: Bearer <access_token>",
		Header: http.Header{"Www-Authenticate": {`Bearer`, dpop.Challenge}}}
	badToken = &reply.Failure{Status: 401, OAuth: "invalid_token", // protocol 4.3, RFC 6750 3.1
		Msg:    "the access token is invalid, expired or revoked: get a new one",
		Header: http.Header{"Www-Authenticate": {`Bearer error="invalid_token"`}}}

	badClientMetadata = &reply.Failure{Status: 400, OAuth: registration.InvalidClientMetadata, // RFC 7591 3.2.2
		Msg: "the application cannot be registered as it describes itself"}
	tooManyClients = &reply.Failure{Status: 429, OAuth: "temporarily_unavailable", // decision 55
		Msg: "too many applications have registered themselves from this network: wait as long as Retry-After says, or use " +
			"the URL of a metadata document as client_id"}
	noRegistrationToken = &reply.Failure{Status: 401, // RFC 7592 2
		Msg:    "the registration access token is needed: send Authorization: Bearer <registration_access_token>",
		Header: http.Header{"Www-Authenticate": {`Bearer`}}}
	badRegistrationToken = &reply.Failure{Status: 401, OAuth: "invalid_token", // RFC 7592 2
		Msg:    "this is not the registration access token of an application that is registered here",
		Header: http.Header{"Www-Authenticate": {`Bearer error="invalid_token"`}}}
	removalUnwritten = &reply.Failure{Status: 503, Msg: "the application is removed, but the audit trail, which has to " +
		"have it, cannot be written at the moment: nothing has to be sent again"} // decision 32

	proofMissing = &reply.Failure{Status: 400, OAuth: dpop.InvalidProof, // RFC 9449 5
		Msg: "this application takes tokens that are bound to a key alone: send a proof in the header DPoP"}

	// RFC 9449 7.1
	unproven = badRequest.Saying("subject_token is bound to a key: send a proof by it in the header DPoP, which the " +
		"dpop of this application has to allow")

	missingToken = &reply.Failure{Status: 400, OAuth: engine.InvalidRequest, Msg: "token is missing"} // RFC 7009 2.1
	foreignToken = &reply.Failure{Status: 400, OAuth: engine.UnauthorizedClient,                      // RFC 7009 2.1
		Msg: "this token was issued to another application"}
	keyOfUser = foreignToken.Saying("this is an API key of a user: to end it, send client_id=" + // RFC 7009 2.1
		storage.KeysAppID + " and no client_secret")
	// RFC 9110 15.6.4
	auditFailed = &reply.Failure{Status: 503, Msg: "the token is revoked, but it could not be written down: " +
		"send the request again", Header: http.Header{"Retry-After": {"1"}}}
	// RFC 9110 15.6.4
	revocationsUnreadable = &reply.Failure{Status: 503, Msg: "revocations cannot be read: try again shortly",
		Header: http.Header{"Retry-After": {"1"}}, Crowd: new(reply.Crowd)}

	// RP-Initiated Logout 1.0, 2
	tooLongToMove = badRequest.Saying("this form of another site is too long: send at most 16 KiB, or the same by GET")
)

// errcodes holds the business codes of refusals that have one (protocol 7).
var errcodes = map[string]int{engine.CodeUsed: 40163}

// failed gives the engine's refusals their HTTP form; other errors pass through.
func failed(err error) error {
	r, ok := errors.AsType[*engine.Refusal](err)
	if !ok {
		return err
	}
	f := &reply.Failure{Status: http.StatusBadRequest, OAuth: r.Name, Errcode: errcodes[r.Name], Msg: r.Reason}
	switch r.Name {
	case engine.CodeUsed:
		f.OAuth = engine.InvalidGrant
	case engine.InvalidClient:
		f.Status = http.StatusUnauthorized
	}
	return f
}

// atToken gives a refusal of an application the status that it has where applications authenticate.
func atToken(err error) error {
	if f, ok := errors.AsType[*reply.Failure](err); ok && f.OAuth == engine.InvalidClient {
		g := f.Saying(inDetail(f, f.Msg))
		g.Status = http.StatusUnauthorized
		return g
	}
	return err
}

// inDetail adds to a text for people what is wrong with a client metadata document, so that its author can mend
// it.
func inDetail(f *reply.Failure, text string) string {
	if problem, ok := errors.AsType[*clientdoc.Problem](f.Cause); ok {
		text += " (" + problem.Text + ")"
	}
	return text
}

func badBearer(err error) error {
	switch {
	case errors.Is(err, token.ErrNoToken):
		return noToken
	case errors.Is(err, token.ErrInvalid), errors.Is(err, storage.ErrNotFound):
		return dpop.Explain(badToken, err, "")
	case errors.Is(err, token.ErrStale):
		return revocationsUnreadable.Because(err)
	}
	return err
}

// badBody turns the error of reading a body, too large or cut off, into a failure.
func badBody(err error) error {
	if big := (*http.MaxBytesError)(nil); errors.As(err, &big) {
		return err
	}
	return badRequest.Saying("the request body could not be read").Because(err)
}
