package toolplan

import "time"

var _ = Held{}.carried

// Held holds tools of a capability that its upstream has changed, or lists anew, and that wait until its owner
// accepts them (decision 92). Callers see and call none of them.
type Held struct {
	Member string    `json:"member"`
	Tools  []Tool    `json:"-"`                // as the upstream lists them, by name
	Before []Tool    `json:"-"`                // those of them that are not new, as they were accepted
	Packed []byte    `json:"packed,omitempty"` // Tools as they are stored; written by the Store
	Were   []byte    `json:"were,omitempty"`   // Before, likewise
	Gone   []string  `json:"gone,omitempty"`   // names of accepted tools that the upstream did not list then
	More   int       `json:"more,omitempty"`   // how many more there were, which found no room in Tools
	Digest string    `json:"digest,omitempty"` // identifies Tools; "": nothing is held
	At     time.Time `json:"at,omitzero"`      // when that was found
	Told   []string  `json:"told,omitempty"`   // digests that the owner was told of, the latest last
	ToldAt time.Time `json:"told_at,omitzero"` // when that was done last

	// First is the digest of what was held first since tools were accepted last. Changed says that something else
	// was held after it.
	First   string `json:"first,omitempty"`
	Changed bool   `json:"changed,omitempty"`

	Version int64 `json:"-"`
	carried
}
