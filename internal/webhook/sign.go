package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/storage"
)

// The headers of a delivery.
const (
	HeaderID        = "Webhook-Id"
	HeaderTimestamp = "Webhook-Timestamp" // Unix seconds of the attempt
	HeaderSignature = "Webhook-Signature"
)

// Tolerance bounds the difference between the clocks of sender and receiver.
const Tolerance = 5 * time.Minute

// Why Verify refuses.
var (
	ErrTimestamp = errors.New("webhook: the timestamp is missing, or more than 5 minutes away: check the clock, or do " +
		"not replay")
	ErrSignature = errors.New("webhook: no signature fits: check the secret, and verify the body's bytes before " +
		"anything parses them")
)

const version = "v1," // HMAC-SHA256

// Sign returns the value of webhook-signature for one attempt: v1, and the base64 of the
// HMAC-SHA256 of id.timestamp.payload. Without a secret there is none: "".
func Sign(secret storage.Secret, id string, at time.Time, payload []byte) string {
	if secret.IsZero() {
		return ""
	}
	sum := mac(secret, id, strconv.FormatInt(at.Unix(), 10), payload)
	return version + base64.StdEncoding.EncodeToString(sum)
}

// maxSignatures bounds the work that one header may cause.
const maxSignatures = 16

// Verify checks a received message, at a time: ErrTimestamp or ErrSignature. Of several
// signatures, separated by spaces, one must fit; those of other versions are passed over.
// Without a secret nothing fits.
func Verify(secret storage.Secret, h http.Header, payload []byte, at time.Time) error {
	stamp := h.Get(HeaderTimestamp)
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || strconv.FormatInt(seconds, 10) != stamp {
		return ErrTimestamp
	}
	if away := at.Sub(time.Unix(seconds, 0)); away > Tolerance || away < -Tolerance {
		return ErrTimestamp
	}
	id := h.Get(HeaderID)
	if secret.IsZero() || id == "" {
		return ErrSignature
	}
	want := mac(secret, id, stamp, payload)
	signatures := strings.SplitN(h.Get(HeaderSignature), " ", maxSignatures+1)
	for _, s := range signatures[:min(len(signatures), maxSignatures)] {
		text, known := strings.CutPrefix(s, version)
		got, err := base64.StdEncoding.DecodeString(text)
		if known && err == nil && hmac.Equal(got, want) {
			return nil
		}
	}
	return ErrSignature
}

func mac(secret storage.Secret, id, stamp string, payload []byte) []byte {
	m := hmac.New(sha256.New, key(secret))
	m.Write([]byte(id + "." + stamp + "."))
	m.Write(payload)
	return m.Sum(nil)
}

// key decodes whsec_<base64>, the form in which receivers' libraries write a secret.
func key(secret storage.Secret) []byte {
	text := secret.Reveal()
	if encoded, ok := strings.CutPrefix(text, "whsec_"); ok {
		if raw, err := base64.StdEncoding.DecodeString(encoded); err == nil && len(raw) > 0 {
			return raw
		}
	}
	return []byte(text)
}
