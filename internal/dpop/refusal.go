package dpop

import (
	"errors"
	"net/http"
	"strings"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/token"
)

// Errors of RFC 9449 5 and 7.1, and of RFC 6750 3.1.
const (
	InvalidProof = "invalid_dpop_proof"
	UseNonce     = "use_dpop_nonce"
	InvalidToken = "invalid_token"
)

// HeaderNonce is the header that hands a nonce to a client, and HeaderProof the one that a proof comes in, as net/http
// writes them.
const (
	HeaderNonce = "Dpop-Nonce"
	HeaderProof = "Dpop"
)

// Algs returns the algorithms that proofs may be signed with, the first ones first to be taken.
func Algs() []string { return []string{token.ES256, token.EdDSA, token.RS256, "PS256"} }

// Challenge is the challenge of a resource that takes proofs (RFC 9449 7.1).
var Challenge = `DPoP algs="` + strings.Join(Algs(), " ") + `"`

// Refusal says why a request is refused whose token is bound to a key, or that has a proof. It is a token.ErrInvalid.
type Refusal struct {
	Name   string // InvalidProof, UseNonce or InvalidToken
	Reason string // for people
	Nonce  string // for the next proof; "": none is needed
	bearer bool   // the token was sent with the scheme Bearer
}

func (r *Refusal) Error() string { return "dpop: " + r.Reason }

func (r *Refusal) Unwrap() error { return token.ErrInvalid }

// Scheme returns the challenge's scheme and what else it says beside params, which may be empty.
func (r *Refusal) challenge(params string) string {
	if params != "" {
		params = ", " + params
	}
	if r.bearer {
		return `Bearer error="` + r.Name + `"` + params + ", " + Challenge
	}
	return `DPoP error="` + r.Name + `", error_description="` + r.Reason + `", algs="` + strings.Join(Algs(), " ") + `"` +
		params
}

// Refused returns the Refusal that an error is, nil if it is none.
func Refused(err error) *Refusal {
	r, _ := errors.AsType[*Refusal](err)
	return r
}

// Explain returns the failure that a resource answers an invalid token with: f, and where the error is a Refusal, what
// is wrong and a challenge of the scheme that the client has to use. Of the challenge params are what the resource says
// beside the error, such as where its document is; "": nothing.
func Explain(f *reply.Failure, err error, params string) *reply.Failure {
	r := Refused(err)
	if r == nil {
		return f.Because(err)
	}
	g := f.Saying(r.Reason).Because(err).With("Www-Authenticate", r.challenge(params))
	if f.OAuth != "" {
		g.OAuth = r.Name
	}
	if r.Nonce != "" {
		g.Header[HeaderNonce] = []string{r.Nonce}
	}
	return g
}

// AtToken returns the failure that the token endpoint answers with (RFC 9449 5, 8). An error that is no Refusal passes.
func AtToken(err error) error {
	r := Refused(err)
	if r == nil {
		return err
	}
	f := &reply.Failure{Status: http.StatusBadRequest, OAuth: r.Name, Msg: r.Reason, Cause: err}
	if r.Nonce != "" {
		f.Header = http.Header{HeaderNonce: {r.Nonce}}
	}
	return f
}

func wrong(reason string) error {
	return &Refusal{Name: InvalidProof, Reason: "the DPoP proof " + reason}
}
