package token

import (
	"errors"
	"net/http"
	"strings"
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
func Bearer(r *http.Request) (string, error) {
	header := r.Header["Authorization"]
	switch len(header) {
	case 0:
		return "", ErrNoToken
	case 1:
	default:
		return "", invalid("two Authorization headers")
	}
	scheme, token, _ := strings.Cut(header[0], " ")
	switch {
	case !strings.EqualFold(scheme, "Bearer"):
		return "", ErrNoToken
	case len(token) > maxToken:
		return "", invalid("longer than 8 KiB")
	case !isB64token(token):
		return "", invalid("not a b64token (RFC 6750 2.1)")
	}
	return token, nil
}

// isB64token: 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"="
func isB64token(text string) bool {
	text = strings.TrimRight(text, "=")
	for i := range len(text) {
		if !b64token[text[i]] {
			return false
		}
	}
	return text != ""
}

// b64token holds the characters allowed in one before its padding. Each request has hundreds of them.
var b64token = func() (may [256]bool) {
	for c := range may {
		may[c] = isURLSafe(byte(c)) || strings.IndexByte(".~+/", byte(c)) >= 0
	}
	return may
}()

// isURLSafe: the alphabet of base64url (RFC 4648 5).
func isURLSafe(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}
