package toolschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/toolschema/tree"
)

// Input is the input schema of a tool: an object of named arguments.
type Input []Field

// JSON returns the schema, with its keys and required names sorted. It fails if that takes
// more than max bytes.
func (in Input) JSON(max int) (json.RawMessage, error) { return in.with(nil, max) }

// with is JSON with more keywords.
func (in Input) with(more tree.Object, max int) (json.RawMessage, error) {
	return write(in.object(more), max)
}

// object returns the schema, with more keywords.
func (in Input) object(more tree.Object) tree.Object {
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
	if len(more) > 0 {
		schema = tree.NewObject(append(schema, more...)...)
	}
	return schema
}

func write(schema tree.Object, max int) (json.RawMessage, error) {
	out, whole := tree.Append(nil, schema, max)
	if !whole {
		return nil, fmt.Errorf("its input schema has more than %d bytes", max)
	}
	return out, nil
}

// Foreign is the input schema of a foreign tool: its arguments, and what it says beside
// them that the strictest clients read: $schema if that is 2020-12, the definitions of what
// refers to itself, and which other arguments it takes.
type Foreign struct {
	Input
	dialect tree.Object // $schema
	defs    tree.Object // $defs
	others  tree.Object // additionalProperties

	Left []Left // what is left out
}

// JSON returns the schema of a tool that is called by its name, see [Input.JSON].
func (f Foreign) JSON(max int) (json.RawMessage, error) {
	return f.Input.with(slices.Concat(f.dialect, f.defs, f.others), max)
}

// Rest returns what the schema says beside its arguments where no others are taken: where each
// is bound to a place in a request.
func (f Foreign) Rest() tree.Object { return slices.Concat(f.dialect, f.defs) }

// With is JSON with what the schema said beside its arguments.
func (in Input) With(rest tree.Object, max int) (json.RawMessage, error) { return in.with(rest, max) }

// ByName returns what of an input can be offered where names cannot be mapped: arguments
// whose names model APIs refuse are left out, and are an error if they are required.
func (f Foreign) ByName() (Foreign, error) {
	all := len(f.Input)
	f.Input = slices.DeleteFunc(slices.Clone(f.Input), func(f Field) bool { return !Legal(f.Name) && !f.Required })
	if len(f.Input) < all {
		f.others = nil // it may refuse what was left out
	}
	for _, field := range f.Input {
		if !Legal(field.Name) {
			return Foreign{}, fmt.Errorf("the required argument %q has a name that models cannot use: rename it to match "+
				"^[A-Za-z0-9_.-]{1,64}$", field.Name)
		}
	}
	return f, nil
}

const maxName = 64 // bytes of the name of an argument

// Legal reports whether model APIs take a name as that of an argument:
// ^[A-Za-z0-9_.-]{1,64}$.
func Legal(name string) bool {
	for i := range len(name) {
		if c := name[i]; !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '.' ||
			c == '-') {
			return false
		}
	}
	return 1 <= len(name) && len(name) <= maxName
}

// Limits of the input schema of a foreign tool.
const (
	maxText  = 1 << 20 // bytes read
	maxDepth = 64      // nested
	maxHops  = 16      // references to references
	maxBytes = 64 << 10
)

// Sanitize returns the input schema of a foreign tool as every client can read it: see the
// package. References within it are resolved. Where all of its structure is too much, the
// arguments are shown without theirs. Arguments keep their names: see [Foreign.ByName] and [Import].
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
func Read(schema json.RawMessage) (Foreign, error) {
	if len(schema) == 0 {
		return Foreign{}, nil
	}
	if len(schema) > maxText {
		return Foreign{}, fmt.Errorf("the input schema has more than %d bytes", maxText)
	}
	root, err := tree.Parse(string(schema), maxDepth)
	if err != nil {
		return Foreign{}, fmt.Errorf("the input schema is not JSON that can be read: %w", err)
	}
	if !is[tree.Object](root) {
		return Foreign{}, errNoObject
	}
	d := NewDocument(root, maxHops)
	for _, limits := range []Limits{{Depth: 8, Nodes: 2000, Properties: 512, Bytes: maxBytes},
		{Properties: 512, Bytes: maxBytes}} {
		var left leftOut
		p := d.Projection(limits, func(n Node, reason string) { left.add(n.Pointer(), reason) })
		if limits.Depth > 0 {
			p.defs = &definitions{names: map[string]string{}, taken: map[string]bool{}}
		} else {
			left.add("", "all of its structure is too much: arguments are shown without theirs")
		}
		f, ok := p.foreign()
		if err = p.Err(); err == nil && !ok {
			return Foreign{}, errNoObject
		}
		if err == nil {
			if _, err = f.JSON(maxBytes); err == nil {
				f.Left = left
				return f, nil
			}
		}
	}
	return Foreign{}, fmt.Errorf("the input schema is too much: %w", err)
}

// draft is the dialect that is shown, whatever a schema was written in.
const draft = "https://json-schema.org/draft/2020-12/schema"

func (p *Projection) foreign() (f Foreign, ok bool) {
	root := p.doc.Root()
	fields, ok := p.Fields(root)
	f.Input = fields
	v, _ := root.Value.(tree.Object)
	if strings.TrimSuffix(v.Text("$schema"), "#") == draft {
		f.dialect = tree.Object{{Key: "$schema", Value: draft}}
	}
	shown := make(tree.Object, 0, len(fields))
	for _, field := range fields {
		shown = append(shown, tree.Member{Key: field.Name, Value: field.Schema})
	}
	shown = tree.NewObject(shown...)
	others := root.Get("additionalProperties")
	switch {
	case closed(v) && p.allShown(root.Get("properties"), shown):
		f.others = tree.Object{{Key: "additionalProperties", Value: false}}
	case is[tree.Object](others.Value) && p.allShown(root.Get("properties"), shown):
		if schema, _ := p.schema(others, 1); constrains(schema) {
			f.others = tree.Object{{Key: "additionalProperties", Value: schema}}
		}
	}
	if defs := p.definitions(); len(defs) > 0 {
		f.defs = tree.Object{{Key: "$defs", Value: defs}}
	}
	return f, ok
}

var errNoObject = errors.New(`the input schema must describe an object: {"type":"object","properties":{...}}`)
