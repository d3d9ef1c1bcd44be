// Package totp checks the one-time codes of authenticator apps (RFC 6238): six digits of HMAC-SHA-1, every
// 30 seconds, which is all that every app knows.
package totp

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/typedcode"
)

const (
	digits = 6
	period = 30 * time.Second
	skew   = 1 // steps that the clock of an app may be wrong, either way
)

// SecretLen is the length of a secret in bytes (RFC 4226 4).
const SecretLen = 20

var encoding = base32.StdEncoding.WithPadding(base32.NoPadding)

// Secret returns a secret of random bytes, base32 without padding: of the first SecretLen.
func Secret(random []byte) string { return encoding.EncodeToString(random[:SecretLen]) }

// Check reports whether a code is that of a secret at a time, up to a step early or late, and the step
// it belongs to. A code of the step last, or of one before, is not right: it has been used, or could
// have been.
func Check(secret, code string, at time.Time, last int64) (step int64, right bool) {
	key, err := encoding.DecodeString(secret)
	if err != nil || len(code) != digits {
		return 0, false
	}
	now := at.Unix() / int64(period/time.Second)
	for s := now - skew; s <= now+skew; s++ { // all of them, so that the time taken does not tell which
		if subtle.ConstantTimeCompare([]byte(codeAt(key, s)), []byte(code)) == 1 && s > last {
			step, right = s, true
		}
	}
	return step, right
}

// codeAt returns the code of a step (RFC 4226 5.3).
func codeAt(key []byte, step int64) string {
	mac := hmac.New(sha1.New, key)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(step)))
	sum := mac.Sum(nil)
	from := sum[len(sum)-1] & 0x0f
	n := binary.BigEndian.Uint32(sum[from:]) & 0x7fffffff
	return fmt.Sprintf("%0*d", digits, n%1_000_000)
}

// Typed returns the code in what a person has typed; "" if it cannot be one.
func Typed(text string) string { return typedcode.Digits(text, digits) }

// Address returns what the QR code for an app holds (the Key URI Format): the service, the user's name and
// the secret. The service is named in both places where apps look for it.
func Address(service, username, secret string) string {
	service = strings.ReplaceAll(service, ":", " ") // the colon parts the two names
	label := url.PathEscape(service + ":" + username)
	query := url.Values{"secret": {secret}, "issuer": {service}}.Encode()
	return "otpauth://totp/" + label + "?" + strings.ReplaceAll(query, "+", "%20") // some apps show a + as it is
}
