package engine

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strings"

	"github.com/ory/fosite"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// pkce implements RFC 7636 at both endpoints, in fosite's order. The challenge is part of the
// code's record, so it cannot be bypassed by failing first or by sending nothing.
type pkce struct{ *Engine }

const (
	methodS256  = "S256"
	methodPlain = "plain"
)

// HandleAuthorizeEndpointRequest has nothing to do: Authorize has checked the challenge.
func (p pkce) HandleAuthorizeEndpointRequest(context.Context, fosite.AuthorizeRequester,
	fosite.AuthorizeResponder) error {
	return nil
}

// challenge reads and checks the challenge of an authorize request (protocol 3.3, 4.1).
func (e *Engine) challenge(ctx context.Context, w *work) (challenge, method string, err error) {
	challenge, method = w.form.Get("code_challenge"), w.form.Get("code_challenge_method")
	if challenge == "" {
		if method != "" {
			return "", "", refuse(InvalidRequest, "code_challenge_method without code_challenge: send both or neither")
		}
		return "", "", e.mayOmitPKCE(ctx, w.app)
	}
	if method == "" {
		method = methodPlain // RFC 7636 4.3
	}
	switch {
	case method != methodS256 && method != methodPlain:
		return "", "", refuse(InvalidRequest, "code_challenge_method is neither S256 nor plain")
	// also one that an earlier version has stored
	case method == methodPlain && (w.app.ForbidPlain || w.app.Client != nil):
		return "", "", refuse(InvalidRequest, "this application allows code_challenge_method=S256 only")
	case !unreserved(challenge), method == methodS256 && len(challenge) != 43:
		return "", "", refuse(InvalidRequest,
			"code_challenge is malformed: S256 gives 43 characters of base64url, plain has 43 to 128")
	}
	return challenge, method, nil
}

func (e *Engine) mayOmitPKCE(ctx context.Context, app storage.App) error {
	if app.Public || app.Client != nil {
		return refuse(InvalidRequest, "a public client must use PKCE: send code_challenge with code_challenge_method=S256")
	}
	forced, err := e.ForcePKCE(ctx)
	if err != nil {
		return err
	}
	if forced {
		return refuse(InvalidRequest, "PKCE is mandatory here: send code_challenge with code_challenge_method=S256")
	}
	return nil
}

func (p pkce) CanHandleTokenEndpointRequest(_ context.Context, r fosite.AccessRequester) bool {
	return r.GetGrantTypes().ExactOne(GrantCode)
}

func (p pkce) CanSkipClientAuth(context.Context, fosite.AccessRequester) bool { return false }

// HandleTokenEndpointRequest compares the verifier. A wrong one leaves the code as it is.
func (p pkce) HandleTokenEndpointRequest(ctx context.Context, _ fosite.AccessRequester) error {
	w := workOf(ctx)
	if refusal := checkVerifier(*w.found, w.form.Get("code_verifier")); refusal != nil {
		w.refusal = refusal
		return fosite.ErrInvalidGrant
	}
	if w.found.Challenge != "" {
		return nil
	}
	// The rule may have become stricter since the code was issued.
	switch err := p.mayOmitPKCE(ctx, w.app).(type) {
	case nil:
		return nil
	case *Refusal:
		w.refusal = refuse(InvalidGrant, err.Reason)
	default:
		w.storeErr = err
	}
	return fosite.ErrInvalidGrant
}

func (p pkce) PopulateTokenEndpointResponse(context.Context, fosite.AccessRequester, fosite.AccessResponder) error {
	return nil
}

// checkVerifier implements RFC 7636 4.6 in both directions: a challenge needs its verifier, and a
// verifier needs a challenge (OAuth 2.1 4.1.3: otherwise PKCE could be stripped unseen).
func checkVerifier(code driver.Token, verifier string) *Refusal {
	switch {
	case code.Challenge == "" && verifier == "":
		return nil
	case code.Challenge == "":
		return refuse(InvalidGrant, "code_verifier for a code without code_challenge")
	case verifier == "":
		return refuse(InvalidGrant, "code_verifier is missing: this code was asked for with a code_challenge")
	case !unreserved(verifier):
		return refuse(InvalidGrant, "code_verifier is malformed: 43 to 128 of A-Z a-z 0-9 - . _ ~")
	}
	derived := verifier
	if code.Method == methodS256 {
		sum := sha256.Sum256([]byte(verifier))
		derived = base64.RawURLEncoding.EncodeToString(sum[:])
	}
	if subtle.ConstantTimeCompare([]byte(derived), []byte(code.Challenge)) != 1 {
		return refuse(InvalidGrant, "code_verifier does not match code_challenge")
	}
	return nil
}

// unreserved reports whether a text is 43 to 128 unreserved characters (RFC 7636 4.1, protocol 8).
func unreserved(s string) bool {
	if len(s) < 43 || len(s) > 128 {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' || r == '_' ||
			r == '~')
	}) < 0
}
