package token

import (
	"errors"
	"net/http"
	"strings"

	"github.com/keystile/keystile/internal/b64token"
)

// ErrNoToken: the request carries no bearer token at all. The answer to it names no error
// (RFC 6750 3.1), unlike the answer to ErrInvalid.
var ErrNoToken = errors.New("token: no bearer token sent")

// maxToken bounds a token in bytes, before anything reads it.
const maxToken = 8 << 10

// Bearer returns the token of the Authorization header (RFC 6750 2.1). It looks nowhere
// else: what stands in a query ends up in logs, and a body can be posted across origins.
//
// ErrNoToken: no such header, or one of another scheme. ErrInvalid: a token was meant to
// be sent but the header is malformed, too long or there twice.
func Bearer(r *http.Request) (string, error) { return OfScheme(r, "Bearer") }

// OfScheme is Bearer of another scheme, whose token has the same alphabet (RFC 9449 7.1).
func OfScheme(r *http.Request, wanted string) (string, error) {
	header := r.Header["Authorization"]
	switch len(header) {
	case 0:
		return "", ErrNoToken
	case 1:
	default:
		return "", invalid("two Authorization headers")
	}
	scheme, token, _ := strings.Cut(header[0], " ")
	token = strings.TrimLeft(token, " ") // 1*SP
	switch {
	case !strings.EqualFold(scheme, wanted):
		return "", ErrNoToken
	case len(token) > maxToken:
		return "", invalid("longer than 8 KiB")
	case !b64token.Valid(token):
		return "", invalid("not a b64token (RFC 6750 2.1)")
	}
	return token, nil
}
