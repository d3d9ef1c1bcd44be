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
	token = strings.TrimLeft(token, " ") // 1*SP
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
	if text == "" {
		return false
	}
	for i := usual(text); i < len(text); i++ {
		if odd[text[i]] != 0 {
			return false
		}
	}
	return true
}

// usual returns how many characters a text begins with, of a multiple of eight, that are letters, digits,
// - . / or _, as those of a JWT are: each request has hundreds of them. It looks at eight at once: a byte
// below 0x80 has its highest bit set after 0x80-c was added if it is c or more, and carries nothing into
// the next one.
func usual(text string) (n int) {
	const each, high = 0x0101_0101_0101_0101, 0x8080_8080_8080_8080
	for ; n <= len(text)-8; n += 8 {
		c := text[n : n+8]
		w := uint64(c[0]) | uint64(c[1])<<8 | uint64(c[2])<<16 | uint64(c[3])<<24 |
			uint64(c[4])<<32 | uint64(c[5])<<40 | uint64(c[6])<<48 | uint64(c[7])<<56
		small := w | 0x20*each
		letter := (small + (0x80-'a')*each) &^ (small + (0x7F-'z')*each)
		digit := (w + (0x80-'-')*each) &^ (w + (0x7F-'9')*each) // and . and /, which lie between
		line := (w + (0x80-'_')*each) &^ (w + (0x7F-'_')*each)
		if (letter|digit|line)&^w&high != high {
			break
		}
	}
	return n
}

// odd holds a 1 for each character that is not allowed in a b64token before its padding.
var odd = func() (not [256]byte) {
	for c := range not {
		if !isURLSafe(byte(c)) && strings.IndexByte(".~+/", byte(c)) < 0 {
			not[c] = 1
		}
	}
	return not
}()

// isURLSafe: the alphabet of base64url (RFC 4648 5).
func isURLSafe(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}
