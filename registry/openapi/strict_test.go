package openapi

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/registry/internal/strictmode"
	"github.com/keystile/keystile/storage/toolplan"
)

// openAIAdmits holds a schema against OpenAI's guide "Structured model outputs", sections "Supported schemas" and
// "JSON Schema best practices", which strict function calling follows ("Function calling", section "Strict mode"):
// the root is an object and no anyOf; every field is required; each object says additionalProperties: false;
// at most 5,000 properties on 10 levels, 1,000 values of enums and 120,000 characters of names and values; and
// allOf, not, dependentRequired, dependentSchemas, if, then and else are not supported. The schema is made strict
// first, as OpenAI's SDKs do.
func openAIAdmits(schema map[string]any) error {
	if schema["type"] != "object" || schema["anyOf"] != nil {
		return fmt.Errorf("the root is no object")
	}
	properties, values, characters := 0, 0, 0
	err := eachSchema(schema, 0, func(s map[string]any, level int) error {
		for _, keyword := range []string{"allOf", "not", "dependentRequired", "dependentSchemas", "if", "then",
			"else"} {
			if s[keyword] != nil {
				return fmt.Errorf("%s is not supported", keyword)
			}
		}
		enum, _ := s["enum"].([]any)
		values += len(enum)
		for _, v := range enum {
			text, _ := v.(string)
			characters += len(text)
		}
		own, _ := s["properties"].(map[string]any)
		properties += len(own)
		for name := range own {
			characters += len(name)
		}
		switch more := s["additionalProperties"]; {
		case more != nil && more != false:
			return fmt.Errorf("additionalProperties is %v", more)
		case level > 0 && typed(s, "object") && own == nil && s["anyOf"] == nil:
			return fmt.Errorf("an object without properties takes none")
		case level > 10:
			return fmt.Errorf("%d levels", level)
		}
		return nil
	})
	if err == nil && (properties > 5_000 || values > 1_000 || characters > 120_000) {
		err = fmt.Errorf("%d properties, %d values, %d characters", properties, values, characters)
	}
	return err
}

// geminiAdmits holds a schema against the reference of the Gemini API, "Schema" ("a select subset of an OpenAPI 3.0
// schema object"): type is required, enum lists texts of a primitive type, an array has items and an object
// properties. Google's SDKs drop, or ignore, keywords that the reference does not name.
func geminiAdmits(schema map[string]any) error {
	return eachSchema(schema, 0, func(s map[string]any, level int) error {
		enum, _ := s["enum"].([]any)
		for _, v := range enum {
			switch v.(type) {
			case bool, []any, map[string]any:
				return fmt.Errorf("enum has %v", v)
			}
		}
		if own, _ := s["properties"].(map[string]any); level > 0 && typed(s, "object") && len(own) == 0 &&
			s["anyOf"] == nil {
			return fmt.Errorf("an object without properties")
		}
		return nil
	})
}

func typed(s map[string]any, name string) bool {
	list, _ := s["type"].([]any)
	return s["type"] == name || slices.Contains(list, any(name))
}

// eachSchema visits a schema and all in it. Both APIs want to know the type of each.
func eachSchema(s map[string]any, level int, visit func(s map[string]any, level int) error) error {
	if s["type"] == nil && s["anyOf"] == nil && s["$ref"] == nil {
		return fmt.Errorf("a schema without a type")
	}
	if err := visit(s, level); err != nil {
		return err
	}
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		property, _ := properties[name].(map[string]any)
		if err := eachSchema(property, level+1, visit); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if typed(s, "array") {
		items, _ := s["items"].(map[string]any)
		if err := eachSchema(items, max(level, 1), visit); err != nil {
			return fmt.Errorf("items: %w", err)
		}
	}
	branches, _ := s["anyOf"].([]any)
	for _, b := range branches {
		branch, _ := b.(map[string]any)
		if err := eachSchema(branch, max(level, 1), visit); err != nil {
			return fmt.Errorf("anyOf: %w", err)
		}
	}
	return nil
}

func TestToolThatAStrictModeCannotExpressIsListed(t *testing.T) {
	listed, admitted := map[string]int{}, map[string]int{}
	for i := range 200 {
		g := &generator{Rand: rand.New(rand.NewPCG(uint64(i), 7)),
			version: []string{"2.0", "3.0.3", "3.1.0", "3.2.0"}[i%4]}
		r, err := Parse(t.Context(), encode(t, g.document()), Options{Member: "m", ResolveRefs: i%2 == 0})
		if err != nil {
			continue
		}
		for _, tool := range r.Tools {
			advice := strings.Join(strictmode.Advice([]toolplan.Tool{tool}), "\n")
			var schema map[string]any
			decode(t, tool.InputSchema, &schema)
			for name, admits := range map[string]func(map[string]any) error{"OpenAI's": openAIAdmits,
				"Gemini's": geminiAdmits} {
				err := admits(schema)
				if said := strings.Contains(advice, name); said != (err != nil) {
					t.Errorf("%s strict mode: %v of %s, and the advice is %q", name, err, tool.InputSchema, advice)
				}
				if err != nil {
					listed[name]++
				} else {
					admitted[name]++
				}
			}
		}
	}
	for _, name := range []string{"OpenAI's", "Gemini's"} {
		if listed[name] < 20 || admitted[name] < 20 {
			t.Errorf("%s: %d tools are listed and %d admitted: little is tried", name, listed[name], admitted[name])
		}
	}
}

func TestWhyAStrictModeCannotExpressATool(t *testing.T) {
	for argument, want := range map[string]string{
		`{"type":"string"}`: "", `{"type":["integer","null"],"minimum":1}`: "",
		`{"type":"array","items":{"type":"string","enum":["a"]}}`: "",
		`{"anyOf":[{"type":"string"},{"type":"null"}]}`:           "",
		`{"type":"object","properties":{"a":{"type":"string"}}}`:  "",
		`{}`: "OpenAI's strict mode cannot express 1 of 1 tools, which work without it: t; of the first, x may be of " +
			"any type",
		`{"type":"object"}`:           "x is an object of any members",
		`{"type":"array","items":{}}`: "x[] may be of any type",
		`{"type":"boolean","enum":[true]}`: "Gemini's strict mode cannot express 1 of 1 tools, which work without " +
			"it: " +
			"t; of the first, x has values " +
			"in enum that are no texts or numbers",
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":{"type":"string"}}`: "OpenAI's " +
			"strict mode cannot express 1 of 1 tools, which work without it: t; of the first, x has further " +
			"members of any name",
	} {
		advice := strings.Join(strictmode.Advice([]toolplan.Tool{{Name: "t",
			InputSchema: []byte(`{"properties":{"x":` + argument + `},"type":"object"}`)}}), "\n")
		if want == "" && advice != "" || !strings.Contains(advice, want) {
			t.Errorf("of %s the advice is %q, want %q", argument, advice, want)
		}
	}
}
