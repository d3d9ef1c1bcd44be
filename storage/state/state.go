package state

// The kinds of documents that processes cache, as a Change names them.
const (
	ChangedKeys         = "key"
	ChangedSettings     = "setting"
	ChangedApps         = "app"
	ChangedCapabilities = "capability" // and their tools
	ChangedAccess       = "access"
	ChangedBundles      = "bundle"
	ChangedUsers        = "user" // not new ones: nobody can have cached them
)

// Change says which documents of a kind may have changed.
type Change struct {
	Kind string   // ChangedApps and the like
	IDs  []string // nil: any of them
}

// Counts holds how many there are of what a store keeps.
type Counts struct {
	Users      int64 // that were made and not erased
	Apps       int64 // that were registered here
	OpenOrders int64 // that wait for a decision
	// Whole is whether everything that is older than the counters has been counted. A serving process
	// sees to that: see SweepEvery.
	Whole bool
}

// A Feature is a fact in the store that every binary that opens it must obey: one that
// ignored it would let in what the fact keeps out, or forget what it keeps. It is written
// before the first such fact, so a store in which nothing new was used can still be opened
// by the version before. A fact that merely adds is no feature: unknown fields survive a rewrite
// anyway.
//
// A new kind of document that a check depends on is a feature, and so is a new kind of
// revocation, a setting that narrows, and a sealed text in a kind that had none: a binary
// that does not know of it would leave it behind when the master key changes.
type Feature struct {
	Name  string `json:"name"`
	Since string `json:"since"` // the version of Keystile that brought it
}
