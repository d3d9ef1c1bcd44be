package driver

import (
	"crypto/sha256"
	"time"
)

// Kinds of token.
const (
	KindCode    = "code"    // authorization code, redeemed at the token endpoint
	KindLegacy  = "legacy"  // code of the old endpoints, redeemed there only
	KindRefresh = "refresh" // refresh token
	KindDevice  = "device"  // device_code that a user has allowed (RFC 8628), redeemed at the token endpoint
)

// Token is the record behind a code or a refresh token (protocol 3.1, 3.2). The handle
// itself is never kept.
type Token struct {
	Key       Key       `json:"-"`
	Kind      string    `json:"kind"`
	Grant     string    `json:"grant"`      // shared by all tokens that descend from one code
	GrantedAt time.Time `json:"granted_at"` // copied along the family
	AppID     string    `json:"app"`
	UserID    string    `json:"user"`  // the user's sub
	Scope     string    `json:"scope"` // space-separated
	IssuedAt  time.Time `json:"issued_at"`
	ExpiresAt time.Time `json:"expires_at"`
	SpentAt   time.Time `json:"-"` // zero: not yet exchanged. Adapters keep it beside the record
	AuthTime  time.Time `json:"auth_time"`
	LoginType string    `json:"login_type"`
	Resource  string    `json:"resource,omitempty"` // RFC 8707
	SignIn    string    `json:"sign_in,omitempty"`  // more of how the user signed in; adapters keep it as it is

	// Fields that only a code of an authorize request or of the old endpoints has.
	RedirectURI string `json:"redirect_uri,omitempty"` // as it was requested, byte for byte
	Challenge   string `json:"challenge,omitempty"`    // RFC 7636
	Method      string `json:"method,omitempty"`       // S256 or plain
	Nonce       string `json:"nonce,omitempty"`        // OpenID Connect
	IP          string `json:"ip,omitempty"`           // of the browser; a legacy code's
}

// Live reports whether the token is unspent and unexpired at a time. Whether it is
// revoked only Exchange can tell.
func (t Token) Live(at time.Time) bool { return t.SpentAt.IsZero() && at.Before(t.ExpiresAt) }

// Key finds a token: the issue time that its handle carries (8 bytes, big-endian Unix
// nanoseconds; zero if it carries none), then the SHA-256 of the handle. The time in
// front keeps inserts at the end of the tree, where they stay cheap.
type Key [8 + sha256.Size]byte

// Kinds of revocation.
const (
	RevokeGrant   = "grant"   // one family of tokens
	RevokeJTI     = "jti"     // one access token
	RevokeApp     = "app"     // everything an application was granted before a time
	RevokeUser    = "user"    // everything a user granted before a time
	RevokeConsent = "consent" // everything a user granted to one application before a time
)

// ConsentID is the ID of a revocation of kind consent.
func ConsentID(appID, sub string) string { return appID + "=" + sub }

// Revocation is a standing fact that ends tokens (protocol 4.4).
type Revocation struct {
	Seq    uint64    // given by the Backend, rising
	Kind   string    // grant, jti, app, user or consent
	ID     string    // which one; of a consent: ConsentID
	Before time.Time // app, user and consent: ends what was granted before this. grant and jti: not read
	Until  time.Time // when the fact may be forgotten, because all it covers has expired; zero: never
}

// Covers reports whether the revocation ends a token. A revocation of kind jti covers
// no stored token, only access tokens.
func (r Revocation) Covers(t Token) bool {
	switch r.Kind {
	case RevokeGrant:
		return r.ID == t.Grant
	case RevokeApp:
		return r.ID == t.AppID && t.GrantedAt.Before(r.Before)
	case RevokeUser:
		return r.ID == t.UserID && t.GrantedAt.Before(r.Before)
	case RevokeConsent:
		return r.ID == ConsentID(t.AppID, t.UserID) && t.GrantedAt.Before(r.Before)
	}
	return false
}

// Join merges an older revocation of the same kind and id into r: never earlier, never shorter.
func (r Revocation) Join(older Revocation) Revocation {
	if older.Before.After(r.Before) {
		r.Before = older.Before
	}
	if r.Until.IsZero() || older.Until.IsZero() {
		r.Until = time.Time{}
	} else if older.Until.After(r.Until) {
		r.Until = older.Until
	}
	return r
}
