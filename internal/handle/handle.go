package handle

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/typedcode"
	"github.com/keystile/keystile/storage/driver"
)

// RefreshPrefix begins every refresh token (protocol 2.1).
const RefreshPrefix = "rt_"

const handleBytes = 8 + 24 // issue time, then 192 random bits

// New draws a handle: prefix ("" or RefreshPrefix), then base64url of the time and 24
// random bytes. The time lies between 1678 and 2262, where Unix nanoseconds do.
func New(prefix string, at time.Time) string {
	return prefix + timed(at, handleBytes)
}

// Derived is New with 24 bytes that are not drawn: whoever knows what they are made of makes the same handle again.
func Derived(prefix string, at time.Time, secret [24]byte) string {
	return prefix + base64.RawURLEncoding.EncodeToString(append(binary.BigEndian.AppendUint64(nil, uint64(at.UnixNano())),
		secret[:]...))
}

// KeyOf returns the key of a handle. Any text has one; one that was never issued has
// a key that no token has.
func KeyOf(handle string) (k driver.Key) {
	if len(handle) <= len(RefreshPrefix)+base64.RawURLEncoding.EncodedLen(handleBytes) {
		raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(handle, RefreshPrefix))
		if err == nil && len(raw) == handleBytes {
			copy(k[:8], raw)
		}
	}
	sum := sha256.Sum256([]byte(handle))
	copy(k[8:], sum[:])
	return k
}

const grantBytes = 8 + 16

// NewGrant draws the id of a grant given at a time. The id begins with that time, so an access token that
// carries only the id can still be compared with "everything before noon is revoked".
func NewGrant(at time.Time) string { return timed(at, grantBytes) }

// NewGrantSince draws the id of a grant that goes back to something older which the store has dated: what has ended
// that ends the grant.
func NewGrantSince(dated time.Time) string { return timed(dated, grantBytes) }

// GrantTime returns the time a grant id carries; zero if NewGrant did not make it.
func GrantTime(grant string) time.Time {
	raw, err := base64.RawURLEncoding.DecodeString(grant)
	if err != nil || len(raw) != grantBytes {
		return time.Time{}
	}
	return time.Unix(0, int64(binary.BigEndian.Uint64(raw))).UTC()
}

func timed(at time.Time, size int) string {
	raw := make([]byte, size)
	binary.BigEndian.PutUint64(raw, uint64(at.UnixNano()))
	rand.Read(raw[8:])
	return base64.RawURLEncoding.EncodeToString(raw)
}

// NewCookie draws the value of a session cookie: 256 random bits in base64url.
func NewCookie() string {
	raw := make([]byte, 32)
	rand.Read(raw)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// Hash returns the id that a session is stored by, given the value of its cookie: 64 hex digits of
// SHA-256. It is for secrets of at least 128 random bits: passwords need a slow hash.
func Hash(cookie string) string {
	sum := sha256.Sum256([]byte(cookie))
	return hex.EncodeToString(sum[:])
}

// NewInvitation draws the code of an invitation: 130 random bits in groups of letters and
// digits that can be read out.
func NewInvitation() string {
	text := rand.Text() // base32, 26 of them
	return text[:7] + "-" + text[7:13] + "-" + text[13:19] + "-" + text[19:]
}

// HashInvitation returns the id that an invitation is stored by, given its code, as somebody has typed it.
func HashInvitation(code string) string {
	return Hash(typedcode.Read(code))
}

// NewAppID draws a client_id: "ks" and 20 characters. A user's sub begins with "u", so
// the two are never equal (RFC 9700 4.15).
func NewAppID() string { return "ks" + strings.ToLower(rand.Text()[:20]) }

// IsAppID reports whether a text is of the form that NewAppID draws. A client_id need not be.
func IsAppID(text string) bool {
	drawn, is := strings.CutPrefix(text, "ks")
	return is && len(drawn) == 20 && strings.Trim(drawn, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// NewOrderID draws the id of an order. Ids of later orders come later in a list.
func NewOrderID(at time.Time) string {
	return "or" + at.UTC().Format("20060102150405") + strings.ToLower(rand.Text()[:10])
}

// NewClientID draws the client_id of an application that registers itself. It begins with
// client.DynamicPrefix of package storage/client, which no other client_id does.
func NewClientID() string { return "ks-" + strings.ToLower(rand.Text()[:20]) }
