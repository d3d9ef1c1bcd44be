package access

// Viewer is the user or application whose tools are asked for. A field that is "" is unknown, and matches no
// rule.
type Viewer struct {
	User string // sub; "" for an application acting for itself
	Role string // of the user
	App  string // client_id
	Tier string // of the application
}

// Verdict says whether somebody may use a tool, and what decides it.
type Verdict struct {
	Tool    string // as on the bus, member__tool
	Allowed bool
	Rule    *Rule  // nil: no rule decided
	Because string // where no rule did
}
