package storage

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// RefreshPrefix opens every refresh token (spec 2.1).
const RefreshPrefix = "rt_"

const handleBytes = 8 + 24 // issue time, then 192 random bits

// NewHandle draws a handle: prefix ("" or RefreshPrefix), then base64url of the time and 24
// random bytes. The time lies between 1678 and 2262, where Unix nanoseconds do.
func NewHandle(prefix string, at time.Time) string {
	return prefix + timed(at, handleBytes)
}

// KeyOf returns the key of a handle. Any text has one; a text that no one issued has a
// key that no token has.
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

// NewGrant draws the id of a grant given at a time. The id carries that time.
func NewGrant(at time.Time) string { return timed(at, grantBytes) }

// GrantTime returns the time a grant id carries; zero if it is not of NewGrant's making.
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

// Caller is whoever a valid access token speaks for.
type Caller struct {
	AppID     string    // client_id
	UserID    string    // the user's sub; "" for an application acting for itself
	Scope     string    // space-separated
	Audience  string    // aud
	TokenID   string    // jti
	Grant     string    // gid
	GrantedAt time.Time // read from Grant
	ExpiresAt time.Time
}
