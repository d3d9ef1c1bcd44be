package access

import "time"

// Viewer is the user or application whose tools are asked for. A field that is "" is unknown, and matches no
// rule.
type Viewer struct {
	User string // sub; "" for an application acting for itself
	Role string // of the user
	App  string // client_id
	Tier string // of the application

	Groups []Group // that the user is a member of
}

// Group is a group that somebody is a member of.
type Group struct {
	Name  string
	Since time.Time // when it was made
}

// Subject returns the group as rules name it.
func (g Group) Subject() Subject { return Subject{Kind: SubjectGroup, Name: g.Name} }

// KnownTo reports whether the group was there when a rule about its name was written. One that was made later is not
// the group that the rule means.
func (g Group) KnownTo(written time.Time) bool { return !g.Since.After(written) }

// Verdict says whether somebody may use a tool, and what decides it.
type Verdict struct {
	Tool    string // as on the bus, member__tool
	Allowed bool
	Rule    *Rule  // nil: no rule decided
	Because string // where no rule did
}
