package handle

import (
	"crypto/rand"
	"encoding/base64"
	"hash/crc32"
	"strings"
)

// APIKeyPattern is a regular expression that every API key matches, for those who search code and
// logs for secrets. IsAPIKey tells the keys among the texts that match it.
const APIKeyPattern = `\bks_[0-9A-Za-z_-]{32}[0-9A-Za-z]{6}\b`

const (
	apiKeyPrefix = "ks_"
	apiKeyDrawn  = 32 // characters of base64url: 24 random bytes
	apiKeySum    = 6  // characters of checksum
	apiKeyLength = len(apiKeyPrefix) + apiKeyDrawn + apiKeySum
)

// NewAPIKey draws an API key: "ks_", base64url of 24 random bytes, and a checksum. It is stored by
// its Hash.
func NewAPIKey() string {
	raw := make([]byte, base64.RawURLEncoding.DecodedLen(apiKeyDrawn))
	rand.Read(raw)
	text := apiKeyPrefix + base64.RawURLEncoding.EncodeToString(raw)
	sum := checksum(text)
	return text + string(sum[:])
}

// IsAPIKey reports whether a text is of the form of an API key, with the right checksum. It needs no
// store. A text that begins like one and is none was mistyped, cut off or made up.
func IsAPIKey(text string) bool {
	if len(text) != apiKeyLength || !LooksLikeAPIKey(text) {
		return false
	}
	body := text[:apiKeyLength-apiKeySum]
	sum := checksum(body)
	return isBase64URL(body[len(apiKeyPrefix):]) && string(sum[:]) == text[len(body):]
}

// LooksLikeAPIKey reports whether a text begins as API keys do, and access tokens do not.
func LooksLikeAPIKey(text string) bool { return strings.HasPrefix(text, apiKeyPrefix) }

func isBase64URL(text string) bool {
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// checksum returns the CRC-32 (IEEE) of a text as six digits of base 62, the highest first. The loop
// saves an allocation on every request: hash/crc32 takes a []byte that escapes.
func checksum(text string) (digits [apiKeySum]byte) {
	sum := ^uint32(0)
	for i := range len(text) {
		sum = crc32.IEEETable[byte(sum)^text[i]] ^ sum>>8
	}
	sum = ^sum
	for i := len(digits) - 1; i >= 0; i-- {
		digits[i] = base62[sum%62]
		sum /= 62
	}
	return digits
}
