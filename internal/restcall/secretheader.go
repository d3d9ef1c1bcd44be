package restcall

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/headername"
	"github.com/keystile/keystile/storage"
)

// Limits of the headers that are sent beside the credential.
const (
	maxSecretHeaders   = 16
	maxSecretHeader    = 8 << 10  // bytes of a value
	maxAllHeaders      = 32 << 10 // of all of them, with their names
	maxSecretHeaderKey = 200      // of a name
)

// notSecret are headers that no capability sets, beside those of Reserved and those that begin with one of
// notSecretPrefixes: they say what a request is or which one it is, and not who may send it.
var notSecret = []string{
	"baggage", "date", "http2-settings", "idempotency-key", "last-event-id", "range", "traceparent", "tracestate",
	"x-request-id",
}

var notSecretPrefixes = []string{"content-", "if-", "sec-"}

// tokensOfOwners are claims by their beginning, and yet the credentials of a program: Cloudflare Access reads both.
var tokensOfOwners = []string{"cf-access-client-id", "cf-access-client-secret"}

// addHeaders adds the headers of an upstream to what its calls carry.
func (c *Credential) addHeaders(headers map[string]storage.Secret) error {
	if len(headers) > maxSecretHeaders {
		return fmt.Errorf("headers has %d members: use at most %d", len(headers), maxSecretHeaders)
	}
	total := 0
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		value := headers[name].Reveal()
		if err := checkSecretHeader(name, value); err != nil {
			return err
		}
		if by := c.sets(name); by != "" {
			return fmt.Errorf("headers: %q is the same as %q, which is sent already: give one of them", name, by)
		}
		if total += len(name) + len(value); total > maxAllHeaders {
			return fmt.Errorf("headers has more than %d bytes: use fewer or shorter ones", maxAllHeaders)
		}
		c.more = append(c.more, sentHeader{http.CanonicalHeaderKey(name), value})
		c.hide = append(c.hide, needles(hidden(value, value, false))...)
		if pair, ok := basicOf(value); ok {
			c.hide = append(c.hide, needles(hidden(pair, value, true))...)
		}
	}
	return nil
}

// basicOf returns the user and the password that a header holds in base64 (RFC 7617).
func basicOf(value string) (pair string, ok bool) {
	scheme, encoded, _ := strings.Cut(value, " ")
	text, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	return string(text), err == nil && strings.EqualFold(scheme, "Basic")
}

// checkSecretHeader returns what is wrong with a header. It repeats no name that is none: it may be the secret.
func checkSecretHeader(name, value string) error {
	switch {
	case !headerName(name) || len(name) > maxSecretHeaderKey:
		return errors.New("headers: a name is not that of a header: use letters, digits and -, such as X-API-Key")
	case !mayBeSecret(name):
		return fmt.Errorf("headers: %q is not for a capability to set: the connection, the body, the gateway or the "+
			"caller decides it", name)
	case value == "":
		return fmt.Errorf("headers: %q has no value", name)
	case len(value) > maxSecretHeader:
		return fmt.Errorf("headers: the value of %q has more than %d bytes", name, maxSecretHeader)
	case !headerValue(value) || !utf8.ValidString(value) || strings.Trim(value, " \t") != value:
		return fmt.Errorf("headers: the value of %q is no text, has control characters, or begins or ends with a blank",
			name)
	}
	return nil
}

func mayBeSecret(name string) bool {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	switch {
	case name == "authorization", slices.Contains(tokensOfOwners, name):
		return true
	case decided(name), headername.Claims(name), slices.Contains(notSecret, name):
		return false
	}
	return !slices.ContainsFunc(notSecretPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// sentHeader is one more header of a call.
type sentHeader struct{ name, value string }

// sets returns the name of the header that a server may take for this one, "" if there is none.
func (c *Credential) sets(name string) string {
	if sameHeader(name, c.Header) {
		return c.Header
	}
	for _, h := range c.more {
		if sameHeader(name, h.name) {
			return h.name
		}
	}
	return ""
}

// SetMore writes the headers that are sent beside the credential.
func (c *Credential) SetMore(to http.Header) {
	for _, h := range c.more {
		to[h.name] = []string{h.value}
	}
}

// Parts returns all that is sent, to tell upstreams apart. It holds the secrets.
func (c *Credential) Parts() []string {
	parts := []string{c.Header, c.Query, c.Text}
	for _, h := range c.more {
		parts = append(parts, h.name, h.value)
	}
	return parts
}
