package toolschema

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Imported is the input schema of a tool that is called by its name, as every client and model can read it.
type Imported struct {
	Schema json.RawMessage
	Known  map[string]string // the upstream's name of each argument whose name was made: see [Restore]
	Left   []Left
}

// Import returns the input schema of a foreign tool as [Sanitize] does, but arguments whose names models cannot write
// get others.
func Import(schema json.RawMessage) (Imported, error) {
	in, err := Read(schema)
	if err != nil {
		return Imported{}, err
	}
	return in.Import(maxBytes)
}

// Import is the function Import for what was read already, in at most max bytes.
func (f Foreign) Import(max int) (out Imported, err error) {
	if f, err = f.seen(); err != nil {
		return Imported{}, err
	}
	out.Left = f.Left
	out.Schema, out.Known, err = f.renamed(max)
	return out, err
}

// seen leaves out the arguments whose names have characters that nobody sees. A required one is an error.
func (f Foreign) seen() (Foreign, error) {
	left := leftOut(slices.Clone(f.Left))
	fields := f.Input[:0:0]
	for _, field := range f.Input {
		switch {
		case Visible(field.Name):
			fields = append(fields, field)
		case field.Required:
			return Foreign{},
				fmt.Errorf("the required argument %q has characters in its name that nobody sees: rename it",
					Text(field.Name))
		default:
			left.add("/properties/"+escape.Replace(field.Name),
				"a property with characters in its name that nobody sees: it is not shown")
			f.others = nil // it may refuse what was left out
		}
	}
	f.Input, f.Left = fields, left
	return f, nil
}

// Left is a piece of a schema that is left out of what is shown.
type Left struct {
	Pointer string // into the schema (RFC 6901)
	Reason  string
}

const maxLeft = 100 // pieces of a schema that are listed as left out

// leftOut lists each piece once.
type leftOut []Left

func (l *leftOut) add(pointer, reason string) {
	if piece := (Left{pointer, reason}); len(*l) < maxLeft && !slices.Contains(*l, piece) {
		*l = append(*l, piece)
	}
}
