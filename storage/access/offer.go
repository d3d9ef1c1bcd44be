package access

// Limits of an Offer: of what a page shows to a person who has to choose.
const (
	MaxOfferedMembers = 20
	MaxOfferedBundles = 20
	MaxOfferedTools   = 200 // of all capabilities together
)

// Offer holds the tools that a user may let an application use, in words, for a page that asks
// them. It holds only tools that the user may use and that the application asks for.
type Offer struct {
	Members  []OfferedMember // the first MaxOfferedMembers by name
	Bundles  []OfferedBundle // the first MaxOfferedBundles by name
	Tools    int             // how many there are, with those that the lists leave out
	ReadOnly int             // how many of them change nothing
	Hidden   int             // capabilities that Members leaves out
}

// OfferedMember is one capability of an Offer.
type OfferedMember struct {
	Name, Label string
	Tools       []OfferedTool // the first of them
	Count       int           // how many there are
	Whole       bool          // the application asks for all its tools, those to come included
}

// OfferedTool is one tool of an Offer.
type OfferedTool struct {
	Name        string // in its capability
	Description string // one line, cut
	ReadOnly    bool   // it changes nothing
}

// OfferedBundle is one Bundle of an Offer.
type OfferedBundle struct {
	Name, Label string
	Count       int // how many of its tools the user may use
}
