package config

// sources says where a key may be given.
type sources uint8

const (
	inFile sources = 1 << iota
	inEnv
	inFlag
)

// key is one line of the table.
type key struct {
	name     string // as in the file
	kind     string // what a value is, for the reference
	fallback string // what it is if no source has it
	protocol string // the section of internal/protocol/protocol.md that it follows, "" if it is ours
	help     string
	group    string  // what it is about
	example  string  // of a good value, for complaints
	never    sources // where it may not be given
	secret   bool
	objects  bool // a file may have a list of objects
	prose    bool // a text for people, in which an @ is no sign of a password
	set      func(string) error
}

func (k key) in(s sources) bool { return k.never&s == 0 }
