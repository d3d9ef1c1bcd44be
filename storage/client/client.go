package client

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/record/forward"
)

// carried keeps what a newer version has written into a record.
type carried = forward.Fields

var _ = []carried{Description{}.carried, Host{}.carried, Keys{}.carried}

// Kinds of application.
const (
	Document = "document" // its client_id is the URL of its metadata document
	Dynamic  = "dynamic"  // registered itself (RFC 7591)
)

// Methods by which they authenticate (RFC 7591 2).
const (
	AuthNone          = "none"
	AuthPrivateKeyJWT = "private_key_jwt"
)

const (
	// MaxID bounds the URL of a metadata document, in bytes: it is in keys of records.
	MaxID = 190
	// DynamicPrefix begins the client_id of a Dynamic one, and of no other application.
	DynamicPrefix = "ks-"

	DocumentPrefix = "https://"
	MaxKeys        = 16 << 10 // bytes of JWKS
)

// Description describes an application that nobody registered here: it brought this itself, and
// nobody has checked it (decision 55). Its storage.App has no owner, no secret and no domains.
type Description struct {
	Kind         string          `json:"kind"`
	RedirectURIs []string        `json:"redirect_uris"`          // exact, but for the port of loopback
	Grants       []string        `json:"grants"`                 // grant_types of those that this service has
	AuthMethod   string          `json:"auth_method"`            // AuthNone or AuthPrivateKeyJWT
	Keys         json.RawMessage `json:"keys,omitempty"`         // JWKS, of private_key_jwt
	KeysURL      string          `json:"keys_url,omitempty"`     // jwks_uri
	KeysRead     time.Time       `json:"keys_read,omitzero"`     // when Keys were read from KeysURL
	FetchedAt    time.Time       `json:"fetched_at,omitzero"`    // when the document was last read
	FreshUntil   time.Time       `json:"fresh_until,omitzero"`   // until then it is not read again
	From         string          `json:"from,omitempty"`         // network that registered it, of a dynamic one
	AccessToken  string          `json:"access_token,omitempty"` // SHA-256 of the token that deletes it (RFC 7592), of a dynamic one

	// KeptAt is when the first user consented; until then it ends at ExpiresAt.
	KeptAt    time.Time `json:"kept_at,omitzero"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	carried
}

// IsID reports whether a client_id is of the form that they have and no other application.
func IsID(id string) bool {
	return strings.HasPrefix(id, DocumentPrefix) || strings.HasPrefix(id, DynamicPrefix)
}

// Clone returns a copy that shares no memory with c.
func (c *Description) Clone() *Description {
	if c == nil {
		return nil
	}
	d := *c
	d.RedirectURIs, d.Grants, d.Keys = slices.Clone(c.RedirectURIs), slices.Clone(c.Grants), slices.Clone(c.Keys)
	return &d
}

// Keys are those by which an application that was registered here proves itself (private_key_jwt, RFC 7523).
type Keys struct {
	Set json.RawMessage `json:"set,omitempty"` // JWKS
	URL string          `json:"url,omitempty"` // jwks_uri, in place of a Set

	KeepSecret bool `json:"keep_secret,omitempty"` // its appkey proves it too
	carried
}

// Clone returns a copy that shares no memory with k.
func (k *Keys) Clone() *Keys {
	if k == nil {
		return nil
	}
	c := *k
	c.Set = slices.Clone(k.Set)
	return &c
}

// Host is an operator's word on a host whose metadata documents are applications here.
type Host struct {
	Host      string    `json:"host"`             // in lower case, with a port if it is not 443
	Denied    bool      `json:"denied,omitempty"` // else trusted: admitted although it is on no list
	UpdatedAt time.Time `json:"updated_at"`
	Version   int64     `json:"-"`
	carried
}

// Policies of hosts, as operators read them.
const (
	Trusted = "trusted"
	Denied  = "denied"
)

// Policy returns what was said on a host, "" for the zero Host.
func (h Host) Policy() string {
	switch {
	case h.Host == "":
		return ""
	case h.Denied:
		return Denied
	}
	return Trusted
}
