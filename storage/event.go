package storage

import "time"

// Kinds of events on the audit trail. A kind that begins with "audit." is the trail's own.
const (
	EventSignIn       = "signin"
	EventToken        = "token"
	EventCall         = "call" // of a guarded service
	EventToolCall     = "tool"
	EventRegistration = "registration"
	EventAdmin        = "admin"
	EventRevocation   = "revocation"
	EventLegacy       = "legacy"  // a call of an old endpoint
	EventConsent      = "consent" // a user allowed an application something, or took it back
	EventAccount      = "account" // a user changed who gets in: sessions, ways to sign in
)

// DetailNoPKCE is the Detail of an EventToken whose code had no challenge.
const DetailNoPKCE = "authorization_code without PKCE"

// Event is one thing that happened, for the audit trail. All fields are optional but Kind.
//
// Texts are kept up to a length in bytes, then cut and ended with an ellipsis. What is
// not UTF-8 becomes U+FFFD. Negative numbers become 0. No field may hold a secret: of a
// path that brings a query, the query is dropped, and nothing else is looked through.
type Event struct {
	At        time.Time     `json:"at"`                   // zero, or no year of four digits: now
	Kind      string        `json:"kind,omitempty"`       // up to 64 bytes
	RequestID string        `json:"request_id,omitempty"` // up to 128
	App       string        `json:"app,omitempty"`        // client id, up to 128
	User      string        `json:"user,omitempty"`       // sub, up to 256
	Product   string        `json:"product,omitempty"`    // up to 128
	Method    string        `json:"method,omitempty"`     // up to 32
	Path      string        `json:"path,omitempty"`       // without query and fragment, up to 1,024
	IP        string        `json:"ip,omitempty"`         // up to 64
	Detail    string        `json:"detail,omitempty"`     // what an admin act changed, up to 1,024
	Status    int           `json:"status,omitempty"`     // of HTTP
	Latency   time.Duration `json:"latency_ns,omitempty"` // in nanoseconds
	Bytes     int64         `json:"bytes,omitempty"`      // of the answer's body
}
