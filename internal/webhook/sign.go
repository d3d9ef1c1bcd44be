package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/storage"
)

// The headers of a delivery.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp" // Unix seconds of the attempt
	headerSignature = "Webhook-Signature"
)

const version = "v1," // HMAC-SHA256

// Sign returns the value of webhook-signature for one attempt: v1, and the base64 of the
// HMAC-SHA256 of id.timestamp.payload. Without a secret there is none: "".
func Sign(secret storage.Secret, id string, at time.Time, payload []byte) string {
	if secret.IsZero() {
		return ""
	}
	m := hmac.New(sha256.New, key(secret))
	m.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
	m.Write(payload)
	return version + base64.StdEncoding.EncodeToString(m.Sum(nil))
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
