package toolschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/keystile/keystile/internal/toolschema/tree"
)

// SanitizeAnswer is [Sanitize] for the schema of what a foreign tool answers, in at most max bytes. Clients refuse an
// answer that does not match it, so what is returned admits all that the schema admits. Names stay as they are.
func SanitizeAnswer(schema json.RawMessage, max int) (json.RawMessage, error) {
	if len(schema) > maxText {
		return nil, fmt.Errorf("the output schema has more than %d bytes", maxText)
	}
	root, err := tree.Parse(string(schema), maxDepth)
	if err != nil {
		return nil, fmt.Errorf("the output schema is not JSON that can be read: %w", err)
	}
	if o, is := root.(tree.Object); !is || o.Get("type") != "object" {
		return nil, errors.New(`the output schema must be of the type "object", as clients demand`)
	}
	text, whole := tree.Append(nil, ofAnswers(root), 2*maxText)
	if !whole {
		return nil, fmt.Errorf("the output schema has more than %d bytes", maxText)
	}
	in, err := Read(text)
	if err != nil {
		return nil, errors.New("the output schema is too much for clients to read")
	}
	out, err := in.JSON(max)
	if err != nil {
		return nil, fmt.Errorf("the output schema has more than %d bytes", max)
	}
	return out, nil
}

// ofAnswers returns a schema as [Read] can read it without making it narrower: readOnly, by which a property is none of
// a request, goes; and so does the structure of what need be neither an object nor an array, which would become one.
func ofAnswers(v any) any {
	schema, is := v.(tree.Object)
	if !is {
		return v
	}
	out := make(tree.Object, 0, len(schema))
	for _, m := range schema {
		switch m.Key {
		case "readOnly":
			continue
		case "properties", "required", "additionalProperties", "items":
			if schema.Get("type") == nil {
				continue
			}
		}
		switch m.Key {
		case "properties", "$defs", "definitions":
			named, _ := m.Value.(tree.Object)
			named = slices.Clone(named)
			for i := range named {
				named[i].Value = ofAnswers(named[i].Value)
			}
			m.Value = named
		case "allOf", "anyOf", "oneOf":
			list, _ := m.Value.(tree.Array)
			list = slices.Clone(list)
			for i := range list {
				list[i] = ofAnswers(list[i])
			}
			m.Value = list
		case "items", "additionalProperties":
			m.Value = ofAnswers(m.Value)
		}
		out = append(out, m)
	}
	return out
}
