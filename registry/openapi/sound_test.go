package openapi

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/storage/toolplan"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

var (
	toolName     = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	argumentName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
)

// sound fails unless a tool is one that every client can read and the bus can call.
func sound(t testing.TB, tool toolplan.Tool) {
	t.Helper()
	if !toolName.MatchString(tool.Name) || tool.Description == "" {
		t.Errorf("tool %q, %q: want a legal name and a description", tool.Name, tool.Description)
	}
	var schema struct {
		Type       string
		Properties map[string]any
		Required   []string
		Defs       map[string]any `json:"$defs"`
	}
	decode(t, tool.InputSchema, &schema)
	for _, definition := range schema.Defs { // of a foreign schema, what refers to itself
		harmless(t, tool, definition)
	}
	if schema.Type != "object" || schema.Properties == nil {
		t.Errorf("%s: inputSchema = %s, want an object with properties", tool.Name, tool.InputSchema)
	}
	if !slices.IsSorted(schema.Required) || len(slices.Compact(slices.Clone(schema.Required))) != len(schema.Required) {
		t.Errorf("%s: required = %q, want it sorted, each name once", tool.Name, schema.Required)
	}
	for _, name := range schema.Required {
		if _, there := schema.Properties[name]; !there {
			t.Errorf("%s: %q is required and no property", tool.Name, name)
		}
	}
	for name, property := range schema.Properties {
		if !argumentName.MatchString(name) {
			t.Errorf("%s: a property is named %q", tool.Name, name)
		}
		harmless(t, tool, property)
	}
	valid(t, tool)
	if tool.Call != nil {
		boundOnce(t, tool, schema.Properties)
		if _, err := restcall.Compile(tool); err != nil {
			t.Errorf("no call can be made of %s: %v", tool.Name, err)
		}
	}
}

// harmless fails if a schema has what some client does not read.
func harmless(t testing.TB, tool toolplan.Tool, schema any) {
	t.Helper()
	o, is := schema.(map[string]any)
	if !is {
		t.Errorf("%s: %v stands for a schema", tool.Name, schema)
		return
	}
	for key, value := range o {
		switch key {
		case "properties":
			for _, property := range value.(map[string]any) {
				harmless(t, tool, property)
			}
		case "items":
			harmless(t, tool, value)
		case "additionalProperties":
			if value != false {
				harmless(t, tool, value)
			}
		case "$ref":
			var root struct {
				Defs map[string]any `json:"$defs"`
			}
			decode(t, tool.InputSchema, &root)
			to, local := value.(string)
			if name, of := strings.CutPrefix(to, "#/$defs/"); !local || !of || root.Defs[name] == nil {
				t.Errorf("%s: a reference leads to %v, which is no definition of the schema", tool.Name, value)
			}
		case "anyOf":
			for _, branch := range value.([]any) {
				harmless(t, tool, branch)
			}
		case "type", "title", "description", "format", "enum", "const", "default", "deprecated", "required", "pattern",
			"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems",
			"contentMediaType", "contentEncoding", "minLength", "maxLength", "minItems", "maxItems", "minProperties",
			"maxProperties":
		default:
			t.Errorf("%s: the keyword %q is shown", tool.Name, key)
		}
	}
}

// found are the schemas that were found valid: many documents of a test yield the same.
var found sync.Map

// valid asks a validator that is not ours whether the schema is JSON Schema 2020-12.
func valid(t testing.TB, tool toolplan.Tool) {
	t.Helper()
	if _, known := found.Load(string(tool.InputSchema)); known {
		return
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(tool.InputSchema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("tool.json", schema); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Compile("tool.json"); err != nil {
		t.Errorf("%s: %s is not valid: %v", tool.Name, tool.InputSchema, err)
		return
	}
	found.Store(string(tool.InputSchema), true)
}

// boundOnce fails unless every property goes to exactly one place.
func boundOnce(t testing.TB, tool toolplan.Tool, properties map[string]any) {
	t.Helper()
	var args, places []string
	var inPath []string
	for _, p := range tool.Call.Params {
		args, places = append(args, p.Arg), append(places, p.In+" "+p.Name)
		if p.In == "path" {
			inPath = append(inPath, p.Name)
			if !p.Required {
				t.Errorf("%s: the path parameter %q is optional", tool.Name, p.Name)
			}
		}
	}
	if b := tool.Call.Body; b != nil {
		if b.Whole != "" {
			args = append(args, b.Whole)
		}
		if b.More != "" {
			args = append(args, b.More)
		}
		if (b.Whole == "") == (len(b.Fields) == 0) || b.ContentType == "" {
			t.Errorf("%s: a body %+v, want a type and either fields or the whole", tool.Name, b)
		}
		for _, f := range b.Fields {
			args, places = append(args, f.Arg), append(places, "body "+f.Name)
			for _, h := range f.Headers {
				if h.Arg != "" {
					args = append(args, h.Arg)
				}
			}
		}
	}
	slices.Sort(args)
	slices.Sort(places)
	if len(slices.Compact(args)) != len(args) || len(args) != len(properties) {
		t.Errorf("%s: bound are %q, want each of %d properties once", tool.Name, args, len(properties))
	}
	for _, arg := range args {
		if _, there := properties[arg]; !there {
			t.Errorf("%s: %q is bound and no property", tool.Name, arg)
		}
	}
	if len(slices.Compact(places)) != len(places) {
		t.Errorf("%s: two arguments go to one place: %q", tool.Name, places)
	}
	for _, name := range placeholders(tool.Call.Template) {
		if !slices.Contains(inPath, name) {
			t.Errorf("%s: nothing fills {%s}", tool.Name, name)
		}
	}
}

// closed begins the schema of a tool, which admits no other arguments than its own.
const closed = `{"additionalProperties":false,`
