package toolschema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/internal/toolschema/tree"
)

// Restore gives the arguments of a call the names that the upstream knows, wherever the schema has a name that was made
// for one. schema and known are those of [Imported]. The arguments must be valid JSON; all else in
// them stays as it is written.
func Restore(schema json.RawMessage, known map[string]string, arguments json.RawMessage) (json.RawMessage, error) {
	if len(known) == 0 || len(arguments) == 0 {
		return arguments, nil
	}
	parsed, err := tree.Parse(string(schema), maxDepth)
	if err != nil {
		return nil, fmt.Errorf("the input schema cannot be read: %w", err)
	}
	root, _ := parsed.(tree.Object)
	defs, _ := root.Get("$defs").(tree.Object)
	r := restoring{known, defs}
	return r.value(make([]byte, 0, len(arguments)+64), rawjson.Trim(arguments), []tree.Object{root})
}

type restoring struct {
	known map[string]string
	defs  tree.Object
}

// value appends a value that all of some schemas describe.
func (r *restoring) value(out []byte, v json.RawMessage, by []tree.Object) ([]byte, error) {
	by = r.all(by)
	switch {
	case len(by) > 0 && v[0] == '{':
		return r.object(out, v, by)
	case len(by) > 0 && v[0] == '[':
		return r.array(out, v, by)
	}
	return append(out, v...), nil
}

func (r *restoring) array(out []byte, v json.RawMessage, by []tree.Object) (_ []byte, err error) {
	var items []tree.Object
	for _, schema := range by {
		if item, is := schema.Get("items").(tree.Object); is {
			items = append(items, item)
		}
	}
	out = append(out, '[')
	more := false
	for item := range rawjson.Elements(v) {
		if more {
			out = append(out, ',')
		}
		more = true
		if out, err = r.value(out, item, items); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

func (r *restoring) object(out []byte, v json.RawMessage, by []tree.Object) (_ []byte, err error) {
	given := map[string]bool{}
	out = append(out, '{')
	for written, member := range rawjson.Members(v) {
		name := string(written)
		inner, declared := describing(by, name)
		if real, made := r.known[name]; made && declared {
			name = real
		}
		if given[name] {
			return nil, fmt.Errorf("%q is there twice: under its own name and under the one that stands for it",
				Text(name))
		}
		if given[name] = true; len(given) > 1 {
			out = append(out, ',')
		}
		out = append(rawjson.AppendString(out, name), ':')
		if out, err = r.value(out, member, inner); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// describing returns the schemas of a member of an object, and whether one of them names it.
func describing(by []tree.Object, name string) (inner []tree.Object, named bool) {
	for _, schema := range by {
		properties, _ := schema.Get("properties").(tree.Object)
		v, there := properties.Lookup(name)
		if named = named || there; !there {
			v = schema.Get("additionalProperties")
		}
		if property, is := v.(tree.Object); is {
			inner = append(inner, property)
		}
	}
	return inner, named
}

// maxSchemas bounds the schemas that describe one value together.
const maxSchemas = 256

// all returns schemas with those that their references lead to, and the branches of their choices.
func (r *restoring) all(by []tree.Object) []tree.Object {
	out, followed := slices.Clone(by), map[string]bool{}
	for i := 0; i < len(out) && len(out) < maxSchemas; i++ {
		branches, _ := out[i].Get("anyOf").(tree.Array)
		for _, branch := range branches {
			if schema, is := branch.(tree.Object); is {
				out = append(out, schema)
			}
		}
		if ref, is := refOf(out[i]); is && !followed[ref] {
			followed[ref] = true
			if target, is := r.defs.Get(strings.TrimPrefix(ref, "#/$defs/")).(tree.Object); is {
				out = append(out, target)
			}
		}
	}
	return out
}
