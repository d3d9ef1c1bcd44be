package registration

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/oauth/internal/clientname"
	"github.com/keystile/keystile/storage/client"
)

// MaxBody bounds the text of a registration, in bytes.
const MaxBody = 8 << 10

// Names of refusals (RFC 7591 3.2.2).
const (
	InvalidRedirectURI    = "invalid_redirect_uri"
	InvalidClientMetadata = "invalid_client_metadata"
)

// Grant types that an application may register.
const (
	GrantCode    = "authorization_code"
	GrantRefresh = "refresh_token"
	GrantDevice  = "urn:ietf:params:oauth:grant-type:device_code"
)

const (
	maxRedirects = 50
	maxDepth     = 16 // of members that are ignored
	maxMembers   = 100
)

// Refusal is the error of a registration that is not right.
type Refusal struct{ Name, Reason string }

func (r *Refusal) Error() string { return r.Name + ": " + r.Reason }

func refuse(name, format string, args ...any) error {
	return &Refusal{name, fmt.Sprintf(format, args...)}
}

// Metadata describes an application as far as this service takes what it says.
type Metadata struct {
	Name         string   // cleaned; "": it has none
	RedirectURIs []string // those that are allowed
	Grants       []string // of those that this service has
	Scope        string   // as it was asked for
}

// claims are the members of a registration that are read.
type claims struct {
	redirects, grants, responses []string
	name, scope, method          string
	hasGrants, hasResponses      bool
}

// Read reads the body of a registration request. Its errors are *Refusal.
func Read(body []byte) (Metadata, error) {
	var c claims
	if err := c.read(body); err != nil {
		return Metadata{}, err
	}
	m := Metadata{Name: clientname.Clean(c.name), Scope: c.scope}
	if err := m.grants(c); err != nil {
		return m, err
	}
	return m, m.redirects(c.redirects)
}

func (c *claims) read(body []byte) error {
	if err := rawjson.Check(body, rawjson.Limits{Depth: maxDepth, Once: true, Members: maxMembers}); err != nil {
		return refuse(InvalidClientMetadata, "the members of the body %v", err)
	}
	text := rawjson.Trim(body)
	if text[0] != '{' {
		return refuse(InvalidClientMetadata, "the body must be one JSON object")
	}
	for name, value := range rawjson.Members(text) {
		if string(value) == "null" { // as if it were not there (RFC 7592 2.2)
			continue
		}
		var err error
		switch string(name) {
		case "redirect_uris":
			if json.Unmarshal(value, &c.redirects) != nil {
				return refuse(InvalidRedirectURI, "redirect_uris must be an array of texts")
			}
		case "client_name":
			err = json.Unmarshal(value, &c.name)
		case "scope":
			err = json.Unmarshal(value, &c.scope)
		case "token_endpoint_auth_method": // whatever it is, the answer is none
			err = json.Unmarshal(value, &c.method)
		case "grant_types":
			c.hasGrants, err = true, json.Unmarshal(value, &c.grants)
		case "response_types":
			c.hasResponses, err = true, json.Unmarshal(value, &c.responses)
		}
		if err != nil {
			return refuse(InvalidClientMetadata, "%s is not of the type that RFC 7591 2 gives it", name)
		}
	}
	return nil
}

// grants takes grant and response types that go together (RFC 7591 2.1).
func (m *Metadata) grants(c claims) error {
	code, device := !c.hasGrants || slices.Contains(c.grants, GrantCode), slices.Contains(c.grants, GrantDevice)
	if !code && !device {
		return refuse(InvalidClientMetadata, "grant_types has neither %s nor %s, and nothing else is open to an "+
			"application that registers itself", GrantCode, GrantDevice)
	}
	if code {
		if c.hasResponses && !slices.Contains(c.responses, "code") {
			return refuse(InvalidClientMetadata, "response_types has no code, which goes with %s", GrantCode)
		}
		m.Grants = append(m.Grants, GrantCode)
	}
	m.Grants = append(m.Grants, GrantRefresh)
	if device {
		m.Grants = append(m.Grants, GrantDevice)
	}
	return nil
}

// ResponseTypes returns the response types that go with grant types (RFC 7591 2.1).
func ResponseTypes(grants []string) []string {
	if slices.Contains(grants, GrantCode) {
		return []string{"code"}
	}
	return []string{}
}

// redirects takes the redirect_uris that are allowed, each once.
func (m *Metadata) redirects(uris []string) error {
	var first error
	for _, uri := range uris {
		if err := client.CheckRedirect(uri); err != nil {
			if first == nil {
				first = refuse(InvalidRedirectURI, "redirect_uris: %s: %v", shown(uri), err)
			}
			continue
		}
		if !slices.Contains(m.RedirectURIs, uri) {
			m.RedirectURIs = append(m.RedirectURIs, uri)
		}
	}
	switch {
	case len(m.RedirectURIs) > maxRedirects:
		return refuse(InvalidRedirectURI, "redirect_uris: at most %d", maxRedirects)
	case len(m.RedirectURIs) > 0:
		return nil
	case first != nil:
		return first
	case slices.Contains(m.Grants, GrantCode):
		return refuse(InvalidRedirectURI, "redirect_uris is missing: name where users are sent back to")
	}
	return nil
}

// shown is a text of the request as an answer may repeat it.
func shown(s string) string {
	if len(s) > 100 {
		s = s[:100] + "..."
	}
	return fmt.Sprintf("%+q", s)
}
