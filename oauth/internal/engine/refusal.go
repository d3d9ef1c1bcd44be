package engine

import (
	"errors"

	"github.com/ory/fosite"
)

// Names of refusals: the error codes of RFC 6749 4.1.2.1 and 5.2, OpenID Connect Core
// 3.1.2.6 and RFC 8707, and CodeUsed.
const (
	InvalidRequest          = "invalid_request"
	InvalidClient           = "invalid_client"
	InvalidGrant            = "invalid_grant"
	InvalidScope            = "invalid_scope"
	InvalidTarget           = "invalid_target"
	UnauthorizedClient      = "unauthorized_client"
	UnsupportedGrantType    = "unsupported_grant_type"
	UnsupportedResponseType = "unsupported_response_type"
	AccessDenied            = "access_denied"

	// CodeUsed is an invalid_grant with a number of its own: the code has been redeemed
	// before (protocol 3.1, errcode 40163).
	CodeUsed = "code_used"
)

// Refusal is an error that the client is shown.
type Refusal struct {
	Name   string // one of the names above
	Reason string // for developers: what is wrong and what to do
	User   string // the sub of the user whom the application does not admit; "" of all other refusals
}

func (r *Refusal) Error() string { return r.Name + ": " + r.Reason }

func refuse(name, reason string) *Refusal { return &Refusal{Name: name, Reason: reason} }

// The refusals of a code or token that has been used before, or at the same moment.
var (
	codeUsed   = refuse(CodeUsed, "this code has been redeemed before: start again at the authorization endpoint")
	deviceUsed = refuse(InvalidGrant,
		"this device_code has been redeemed before: ask for a new one at the device authorization endpoint")
	refreshReplaced = refuse(InvalidGrant, "this refresh token has been replaced: use the newest one, or sign in again")
)

// errorOf turns an error of fosite into our own. The one in the unit of work is more exact and
// comes first.
func (w *work) errorOf(err error) error {
	if err == nil {
		return nil
	}
	if w.storeErr != nil {
		return w.storeErr
	}
	if w.refusal != nil {
		return w.refusal
	}
	name := fosite.ErrorToRFC6749Error(err).ErrorField
	if name == fosite.ErrServerError.ErrorField { // what the engine itself failed at
		return errors.Join(errors.New("oauth engine: "+name), err)
	}
	if r := plain[name]; r != nil {
		return r
	}
	return plain[InvalidRequest]
}

// plain are the refusals that fosite decides, by its names for them. Its own texts stay here: they quote what was sent,
// in characters that an answer may not hold (RFC 6749 5.2), and speak of its own settings.
var plain = map[string]*Refusal{
	InvalidRequest: refuse(InvalidRequest, "a parameter is missing or malformed: check each of the request"),
	InvalidGrant: refuse(InvalidGrant,
		"this code or refresh token cannot be redeemed: start again at the authorization endpoint"),
	InvalidScope: refuse(InvalidScope,
		"scope is more than this application may have: leave it out, or ask for less"),
	UnauthorizedClient:      refuse(UnauthorizedClient, "this application may not use this grant type"),
	UnsupportedResponseType: refuse(UnsupportedResponseType, "response_type is not code, the only one supported"),
}
