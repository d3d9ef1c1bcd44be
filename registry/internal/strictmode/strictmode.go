// Package strictmode tells which tools the strict modes of the APIs of models cannot express.
package strictmode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/toolschema/tree"
	"github.com/keystile/keystile/storage/toolplan"
)

// Advice names the tools whose arguments the strict modes of model APIs cannot express. In such a mode the
// model writes nothing but what a schema allows, so each value needs a type and each object its members. The tools
// work everywhere else, and there too when the mode is off.
//
// A tool that the strict mode of OpenAI's or Gemini's API cannot express stays as it is, because it works without that
// mode.
func Advice(tools []toolplan.Tool) (out []string) {
	for _, api := range []struct {
		name string
		why  func(schema tree.Object) string
	}{{"OpenAI's", (&strictness{closed: true}).why}, {"Gemini's", (&strictness{}).why}} {
		var names []string
		first := ""
		for _, t := range tools {
			value, err := tree.Parse(string(t.InputSchema), maxSchemaDepth)
			schema, _ := value.(tree.Object)
			if err != nil {
				continue
			}
			if why := api.why(schema); why != "" {
				names = append(names, t.Name)
				if first == "" {
					first = why
				}
			}
		}
		if len(names) > 0 {
			shown := strings.Join(names[:min(len(names), maxNamed)], ", ")
			if more := len(names) - maxNamed; more > 0 {
				shown += fmt.Sprintf(" and %d more", more)
			}
			out = append(out,
				fmt.Sprintf("%s strict mode cannot express %d of %d tools, which work without it: %s; of the first, %s",
					api.name, len(names), len(tools), shown, first))
		}
	}
	return out
}

// maxNamed bounds the tools that are named.
const maxNamed = 10

// maxSchemaDepth bounds the nesting of input schemas, which were bounded when they were made.
const maxSchemaDepth = 128

// The limits of one schema in OpenAI's guide "Structured model outputs", under "Supported schemas".
const (
	strictProperties = 5_000
	strictLevels     = 10
	strictValues     = 1_000   // of all enums
	strictText       = 120_000 // characters of all names and values of enums
)

// strictness looks for what a strict mode cannot express. That properties which may be left out are required and
// may be null instead, and that objects take no further members, the SDKs of both see to by themselves.
type strictness struct {
	closed bool // objects with further members, and the limits of OpenAI; else the values of Gemini

	properties, values, text int
}

// why says what of the arguments of a tool cannot be expressed, "" if all can.
func (s *strictness) why(schema tree.Object) string {
	s.properties, s.values, s.text = 0, 0, 0
	for _, m := range objectAt(schema, "properties") {
		if why := s.value(m.Value, m.Key, 1); why != "" {
			return why
		}
	}
	switch s.properties += len(objectAt(schema, "properties")); {
	case s.closed && s.properties > strictProperties:
		return fmt.Sprintf("it has more than %d properties", strictProperties)
	case s.closed && s.values > strictValues:
		return fmt.Sprintf("it has more than %d values in enums", strictValues)
	case s.closed && s.text > strictText:
		return fmt.Sprintf("its names and values have more than %d characters", strictText)
	}
	return ""
}

func objectAt(v tree.Object, key string) tree.Object { o, _ := v.Get(key).(tree.Object); return o }

// value says why a value cannot be expressed.
func (s *strictness) value(v any, at string, level int) string {
	schema, _ := v.(tree.Object)
	s.text += len(at)
	if level > strictLevels && s.closed {
		return fmt.Sprintf("%s nests more than %d levels deep", at, strictLevels)
	}
	enum, _ := schema.Get("enum").(tree.Array)
	s.values += len(enum)
	for _, v := range enum {
		text, isText := v.(string)
		s.text += len(text)
		if _, isNumber := v.(tree.Number); !s.closed && !isText && !isNumber && v != nil {
			return fmt.Sprintf("%s has values in enum that are no texts or numbers", at)
		}
	}
	if schema.Get("$ref") != nil {
		return ""
	}
	branches, _ := schema.Get("anyOf").(tree.Array)
	for _, b := range branches {
		if why := s.value(b, at, level); why != "" {
			return why
		}
	}
	types, _ := schema.Get("type").(tree.Array)
	if t, is := schema.Get("type").(string); is {
		types = tree.Array{t}
	}
	if len(types) == 0 && len(branches) == 0 {
		return fmt.Sprintf("%s may be of any type", at)
	}
	return s.structure(schema, types, len(branches) > 0, at, level)
}

// structure says why an array or object cannot be expressed.
func (s *strictness) structure(schema tree.Object, types tree.Array, chosen bool, at string, level int) string {
	if slices.Contains(types, any("array")) {
		if why := s.value(schema.Get("items"), at+"[]", level); why != "" {
			return why
		}
	}
	properties := objectAt(schema, "properties")
	s.properties += len(properties)
	if slices.Contains(types, any("object")) {
		switch more, there := schema.Lookup("additionalProperties"); {
		case len(properties) == 0 && !chosen:
			return fmt.Sprintf("%s is an object of any members", at)
		case s.closed && there && more != false:
			return fmt.Sprintf("%s has further members of any name", at)
		}
	}
	for _, m := range properties {
		if why := s.value(m.Value, at+"."+m.Key, level+1); why != "" {
			return why
		}
	}
	return ""
}
