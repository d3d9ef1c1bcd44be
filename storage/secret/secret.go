package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"log/slog"
)

// Secret is a text that must not be shown or compared carelessly: an appkey, a signing
// key. It prints and marshals as [secret], and == on it does not compile.
type Secret struct {
	_    [0]func() // not comparable
	text *string   // behind a pointer, so that no formatting verb reaches the text
}

// New wraps a text.
func New(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{text: &text}
}

// Draw draws 256 random bits: 43 characters of base64url. That is enough for an
// HS256 key, which OpenID Connect Core 10.1 makes of an appkey.
func Draw() Secret { return New(drawText(32)) }

func drawText(bytes int) string {
	raw := make([]byte, bytes)
	rand.Read(raw)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// Reveal returns the text. The caller is responsible for where it goes.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether there is no secret.
func (s Secret) IsZero() bool { return s.text == nil }

// Equal compares in constant time, whatever the lengths. No secret equals none.
func (s Secret) Equal(text string) bool {
	a, b := digest(s.Reveal()), digest(text)
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1 && !s.IsZero()
}

// digest hashes a text; one of usual size is copied to the stack, because each token request has some.
func digest(text string) [sha256.Size]byte {
	var usual [128]byte
	if len(text) <= len(usual) {
		return sha256.Sum256(usual[:copy(usual[:], text)])
	}
	return sha256.Sum256([]byte(text))
}

const redacted = "[secret]"

func (s Secret) String() string               { return redacted }
func (s Secret) GoString() string             { return redacted }
func (s Secret) LogValue() slog.Value         { return slog.StringValue(redacted) }
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
