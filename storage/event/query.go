package event

import "time"

// Query selects events of the audit trail, the newest first. A field that is empty selects all.
type Query struct {
	From time.Time // inclusive
	To   time.Time // exclusive

	App       string   // client id
	Apps      []string // of these only, up to MaxApps; nil: of any; empty and not nil: nothing
	User      string   // sub
	Agent     string   // client_id or sub of one that acted: App, or any of Actors
	Kind      string
	RequestID string
	IP        string // as it stands on the trail; of a sum: the network
	Status    string // "1xx" to "5xx"

	Before uint64 // only what has a lower Seq: the Next of the page before; 0: from the newest on
	Limit  int    // entries at most; 0: 50; at most MaxLimit
}

// Limits of a Query.
const (
	MaxApps  = 100
	MaxLimit = 500
)

// Entry is an event on the trail.
type Entry struct {
	Seq uint64 `json:"seq"` // its number in the store, which it keeps
	Event
}

// Page is one page of what a Query selects.
type Page struct {
	Entries []Entry `json:"entries"` // by Seq, the highest first
	Next    uint64  `json:"next"`    // the Before of the next page; 0: there is none

	// Stopped is true if the search ended before the page was full, because it had read as much as one
	// search may. There may or may not be more: Next is where it goes on.
	Stopped bool `json:"stopped"`
	// Reached says how far back in time it came, if it Stopped.
	Reached time.Time `json:"reached,omitzero"`
}
