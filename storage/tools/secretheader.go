package tools

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/keystile/keystile/storage/secret"
)

// SecretHeaders returns the headers that are sent with each call of a capability's tools beside its credential, by
// name. The names may be shown; the values are secrets, for the capability's own upstream alone.
func (c Capability) SecretHeaders() map[string]secret.Secret {
	if c.headers.IsZero() {
		return nil
	}
	var texts map[string]string
	if json.Unmarshal([]byte(c.headers.Reveal()), &texts) != nil {
		return nil // SetSecretHeaders wrote it
	}
	headers := make(map[string]secret.Secret, len(texts))
	for name, text := range texts {
		headers[name] = secret.New(text)
	}
	return headers
}

// SetSecretHeaders sets them. Names and values are UTF-8.
func (c *Capability) SetSecretHeaders(headers map[string]secret.Secret) {
	if c.headers = (secret.Secret{}); len(headers) == 0 {
		return
	}
	texts := make(map[string]string, len(headers))
	for name, value := range headers {
		texts[name] = value.Reveal()
	}
	text, _ := json.Marshal(texts) // strings cannot fail
	c.headers = secret.New(string(text))
}

// HeaderNames returns the names of the secret headers, sorted.
func (c Capability) HeaderNames() []string { return slices.Sorted(maps.Keys(c.SecretHeaders())) }
