package toolschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/keystile/keystile/internal/toolschema/tree"
)

// Input is the input schema of a tool: an object of named arguments.
type Input []Field

// JSON returns the schema, with its keys and required names sorted. It fails if that takes
// more than max bytes.
func (in Input) JSON(max int) (json.RawMessage, error) {
	properties := make(tree.Object, 0, len(in))
	var required tree.Array
	for _, f := range in {
		properties = append(properties, tree.Member{Key: f.Name, Value: f.Schema})
		if f.Required {
			required = append(required, f.Name)
		}
	}
	schema := tree.Object{{Key: "properties", Value: tree.NewObject(properties...)}}
	if len(required) > 0 {
		schema = append(schema, tree.Member{Key: "required", Value: sortedNames(required)})
	}
	schema = append(schema, tree.Member{Key: "type", Value: "object"})
	out, whole := tree.Append(nil, schema, max)
	if !whole {
		return nil, fmt.Errorf("its input schema has more than %d bytes", max)
	}
	return out, nil
}

// ByName returns what of an input can be offered where names can not be mapped: arguments
// whose names model APIs refuse are left out, and are an error if they are required.
func (in Input) ByName() (Input, error) {
	out := slices.DeleteFunc(slices.Clone(in), func(f Field) bool { return !Legal(f.Name) && !f.Required })
	for _, f := range out {
		if !Legal(f.Name) {
			return nil, fmt.Errorf("the required argument %q has a name that models can not use: rename it to match ^[A-Za-z0-9_.-]{1,64}$", f.Name)
		}
	}
	return out, nil
}

// Legal reports whether model APIs take a name as that of an argument:
// ^[A-Za-z0-9_.-]{1,64}$.
func Legal(name string) bool {
	for i := range len(name) {
		if c := name[i]; !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' || c == '-') {
			return false
		}
	}
	return 1 <= len(name) && len(name) <= 64
}

// What the input schema of a foreign tool may cost.
const (
	maxText  = 1 << 20 // bytes read
	maxDepth = 64      // nested
	maxHops  = 16      // references to references
	maxBytes = 64 << 10
)

// Sanitize returns the input schema of a foreign tool as every client can read it: see the
// package. References within it are resolved. Where all of its structure is too much, the
// arguments are shown without theirs. Arguments keep their names: see [Input.ByName].
func Sanitize(schema json.RawMessage) (json.RawMessage, error) {
	in, err := Read(schema)
	if err != nil {
		return nil, err
	}
	if in, err = in.ByName(); err != nil {
		return nil, err
	}
	return in.JSON(maxBytes)
}

// Legible returns an input schema as it is if every text in it is visible, else as
// [Sanitize] leaves it: what was stored by those who did not look.
func Legible(schema json.RawMessage) (json.RawMessage, error) {
	if plainJSON(schema) {
		return schema, nil
	}
	root, err := tree.Parse(string(schema), maxDepth)
	if err != nil {
		return nil, fmt.Errorf("the input schema is not JSON that can be read: %w", err)
	}
	if p := NewDocument(root, maxHops).Projection(Limits{}, nil); p.visible(root) {
		return schema, nil
	}
	return Sanitize(schema)
}

// plainJSON reports a text that is ASCII and escapes nothing.
func plainJSON(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c > '~' || c == '\\' {
			return false
		}
	}
	return true
}

// Read reads the input schema of a foreign tool. None at all is an object without
// properties, anything but an object is an error that says so.
func Read(schema json.RawMessage) (Input, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	if len(schema) > maxText {
		return nil, fmt.Errorf("the input schema has more than %d bytes", maxText)
	}
	root, err := tree.Parse(string(schema), maxDepth)
	if err != nil {
		return nil, fmt.Errorf("the input schema is not JSON that can be read: %w", err)
	}
	if !is[tree.Object](root) {
		return nil, errNoObject
	}
	d := NewDocument(root, maxHops)
	for _, limits := range []Limits{{Depth: 8, Nodes: 2000, Properties: 512, Bytes: maxBytes}, {Properties: 512, Bytes: maxBytes}} {
		p := d.Projection(limits, func(Node, string) {})
		fields, ok := p.Fields(d.Root())
		if err = p.Err(); err == nil && !ok {
			return nil, errNoObject
		}
		if err == nil {
			in := Input(fields)
			if _, err = in.JSON(maxBytes); err == nil {
				return in, nil
			}
		}
	}
	return nil, fmt.Errorf("the input schema is too much: %w", err)
}

var errNoObject = errors.New(`the input schema must describe an object: {"type":"object","properties":{...}}`)
