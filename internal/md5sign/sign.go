package md5sign

import (
	"crypto/md5"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/storage"
)

// SignWindow bounds how far the timestamp of a signed request may be from the server's clock,
// in either direction (protocol 8).
const Window = 5 * time.Minute

// Reasons to refuse a signed request, in the order of the checks (protocol 5, 7).
var (
	// ErrTimestamp: errcode 105.
	ErrTimestamp = errors.New("timestamp is missing, not plain decimal seconds, or more than 300 seconds away from the " +
		"server's clock: send the current Unix time")
	// ErrRepeated: errcode 101.
	ErrRepeated = errors.New("a parameter is sent more than once: what was signed can be read in several ways")
	// ErrAmbiguous: errcode 101.
	ErrAmbiguous = errors.New("a parameter other than redirect_uri holds an & with the name of another parameter and = " +
		"behind it: what was signed can be read in several ways, so send it in another form, such as base64url")
	// ErrSign: errcode 103.
	ErrSign = errors.New("sign is missing or wrong: it is the MD5 of all other parameters, sorted by name, and the appkey")
)

// IsSigned reports whether a request must be authenticated by its signature, and by nothing else:
// it brings a sign or a timestamp, even an empty one. A server that fell back to an appkey sent
// along would let an attacker strip the signature. Standard OAuth libraries send neither (protocol
// 5).
func IsSigned(params url.Values) bool { return params.Has("sign") || params.Has("timestamp") }

// Of returns the signature that an application makes over a request's parameters (protocol 5): 32 hex digits,
// lower-case, the MD5 of name=value& for each of them, in the order of the names' bytes, and of appkey=<the
// newest secret> behind them. Names and values count as they are before URL encoding. Only the parameter sign
// itself is left out; empty values are not. Without a secret there is no signature: "".
//
// The signature proves the sender for five minutes, also for anyone who replays it. It hides
// nothing and MD5 will not get stronger: new integrations use OAuth.
func Of(a storage.App, params url.Values) string {
	key := a.AppKey()
	if key.IsZero() || !a.TakesSecret() {
		return ""
	}
	sum := digest(canonical(params), key)
	return hex.EncodeToString(sum[:])
}

// Check verifies a request that IsSigned, at a time. Each live secret may have signed it,
// so that a rotation breaks nobody. params are all that were sent, decoded once, and known the
// names that the endpoint gives a meaning to. The errors are ErrTimestamp, ErrRepeated,
// ErrAmbiguous and ErrSign; the first that fits is returned.
func Check(a storage.App, params url.Values, at time.Time, known ...string) error {
	if !isCurrent(params.Get("timestamp"), at) {
		return ErrTimestamp
	}
	for _, values := range params {
		if len(values) > 1 {
			return ErrRepeated
		}
	}
	if isAmbiguous(params, known) {
		return ErrAmbiguous
	}
	sent, err := hex.DecodeString(params.Get("sign"))
	text := canonical(params)
	ok := false
	for _, s := range a.Secrets {
		sum := digest(text, s.Secret)
		equal := subtle.ConstantTimeCompare(sum[:], sent) == 1
		live := s.ExpiresAt.IsZero() || at.Before(s.ExpiresAt)
		ok = ok || equal && live && !s.Secret.IsZero()
	}
	if !ok || err != nil || !a.TakesSecret() {
		return ErrSign
	}
	return nil
}

// signNames are the names that the signature itself gives a meaning to.
var signNames = []string{"sign", "timestamp", "appkey"}

// isAmbiguous reports whether the text that is signed could stand for other parameters that an
// endpoint heeds: whether a parameter reads as if another one, of a known name, began within
// it. A redirect_uri may hold any, because addresses do; unknown names may hold each other.
func isAmbiguous(params url.Values, known []string) bool {
	holds := func(text string) bool {
		begins := func(name string) bool { return strings.Contains(text, "&"+name+"=") }
		return strings.Contains(text, "&") && (slices.ContainsFunc(known, begins) || slices.ContainsFunc(signNames, begins))
	}
	for name, values := range params {
		if strings.ContainsAny(name, "&=") && holds("&"+name+"=") {
			return true
		}
		if name != "redirect_uri" || !slices.Contains(known, name) {
			if slices.ContainsFunc(values, holds) {
				return true
			}
		}
	}
	return false
}

// canonical returns the signed text, without the appkey. Values are not escaped, so a value with
// an & in it reads like two parameters; the protocol has it so (see isAmbiguous).
func canonical(params url.Values) []byte {
	var b []byte
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if name == "sign" {
			continue
		}
		for _, value := range params[name] {
			b = append(b, name...)
			b = append(b, '=')
			b = append(b, value...)
			b = append(b, '&')
		}
	}
	return b
}

func digest(text []byte, key storage.Secret) [md5.Size]byte {
	return md5.Sum(append(append(slices.Clip(text), "appkey="...), key.Reveal()...))
}

// isCurrent reads a timestamp: one to twelve decimal digits and nothing else, so that
// milliseconds, exponents and signs are not taken for something.
func isCurrent(text string, at time.Time) bool {
	if len(text) > 12 {
		return false
	}
	seconds, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return false
	}
	away := at.Unix() - int64(seconds)
	return max(away, -away) <= int64(Window/time.Second)
}
