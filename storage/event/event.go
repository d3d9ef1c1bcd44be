package event

import (
	"slices"
	"time"
)

// Kinds of events on the audit trail. A kind that begins with "audit." is the trail's own.
const (
	SignIn       = "signin"
	Token        = "token"
	Call         = "call" // of a guarded service
	ToolCall     = "tool"
	Registration = "registration"
	Admin        = "admin"
	Revocation   = "revocation"
	Legacy       = "legacy"  // a call of an old endpoint
	Consent      = "consent" // a user allowed an application something, or took it back
	// a document of an application that nobody registered was admitted, has changed, or was refused
	Client  = "client"
	Account = "account" // a user changed who gets in: sessions, ways to sign in
	Limit   = "limit"   // a request was over a rate that refuses nobody, and was let through
)

// DetailNoPKCE is the Detail of an event of a token whose code had no challenge.
const DetailNoPKCE = "authorization_code without PKCE"

// DetailClaims begins the Detail of a Token event of claims that the host's function has not brought. Where they were
// to stand follows, and which of them or why.
const DetailClaims = "claims of the host left out of "

// DetailNotAdmitted is in the Detail of an event of a user whom the Admission of an application keeps from it.
const DetailNotAdmitted = "the user may not use the application"

// DetailRepeated is the Detail of a Call that was not charged, because it was before.
const DetailRepeated = "repeated under its Idempotency-Key, not charged again"

// DetailShadow begins the Detail of a Limit event; the tier whose rate it is follows, or address.
const DetailShadow = "let through over the rate of "

// The Detail of a Legacy event ends in one of these if the application has proved who it is.
const (
	DetailPlainKey = " plain"  // by its appkey
	DetailSigned   = " signed" // by a signature
)

// MaxActors bounds the Actors of an Event: the client_ids or subs of those who acted for its User by delegation, the
// current one first, then those before it (storage.Caller.Actors). nil: App alone acted. Of an act at /api/v1, App is
// the application that is changed; the one that changes it is then an actor.
const MaxActors = 10

// Event is one thing that happened, for the audit trail. All fields are optional but Kind.
//
// Texts are kept up to a length in bytes, then cut and ended with an ellipsis. Invalid UTF-8
// becomes U+FFFD. Negative numbers become 0. No field may hold a secret: the query of a path and
// characters that do not print are dropped, and nothing else is checked.
type Event struct {
	At        time.Time     `json:"at"`                   // zero, or no year of four digits: now
	Kind      string        `json:"kind,omitempty"`       // up to 64 bytes
	RequestID string        `json:"request_id,omitempty"` // up to 128
	App       string        `json:"app,omitempty"`        // client id, up to 192
	User      string        `json:"user,omitempty"`       // sub, up to 256
	Actors    []string      `json:"act,omitempty"`        // see MaxActors; each up to 256
	Product   string        `json:"product,omitempty"`    // up to 128
	Method    string        `json:"method,omitempty"`     // up to 32
	Path      string        `json:"path,omitempty"`       // without query and fragment, up to 256
	IP        string        `json:"ip,omitempty"`         // up to 64
	Detail    string        `json:"detail,omitempty"`     // what an admin act changed, up to 1,024
	Status    int           `json:"status,omitempty"`     // of HTTP
	Latency   time.Duration `json:"latency_ns,omitempty"` // in nanoseconds
	Bytes     int64         `json:"bytes,omitempty"`      // of the answer's body

	// Count and Span are the trail's own: the record stands for so many events without a User,
	// from At on; IP is their network. Count 0 is one event.
	Count int64         `json:"count,omitempty"`
	Span  time.Duration `json:"span_ns,omitempty"` // from the first to the last of them

	// Anonymous is true if the caller was not authenticated: no token, secret or session was
	// valid. Anybody can cause such events without end. So the trail sums them by minute,
	// Kind, App, Product, Route, Detail, Status and network, all but the first few, unless
	// there is a User: the writer of such events must limit their number itself. App and User
	// are then those whom the request was about. Detail must be a text of the program.
	Anonymous bool   `json:"-"`
	Route     string `json:"-"` // the pattern that Path was served by; "" if not known
}

// ActedBy reports whether one that a client_id or a sub names has acted: as App, or as one of Actors.
func (e *Event) ActedBy(agent string) bool { return e.App == agent || slices.Contains(e.Actors, agent) }
