package restcall

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/toolplan"
)

// operation describes an operation as the vectors do. tool does the registrar's work.
type operation struct {
	Method, Path, Template, Base string
	Params                       []struct {
		Name, In, Style string
		Explode         *bool
		Required        bool
		Schema          json.RawMessage
		XArg            string `json:"x-arg"`
	}
	Body *struct {
		ContentType, Mode string
		Properties        json.RawMessage
		Required          bool
		RequiredProps     []string
	}
}

func (o operation) tool(t *testing.T) toolplan.Tool {
	properties, required := map[string]json.RawMessage{}, []string{}
	call := &toolplan.Call{Template: o.Template}
	var inPath []string
	for _, p := range o.Params {
		if p.In == "cookie" || p.In == "header" && Reserved(p.Name) {
			continue // never arguments
		}
		arg := p.Name
		if p.XArg != "" {
			arg = p.XArg
		}
		explode := p.In == "query" && (p.Style == "" || p.Style == "form")
		if p.Explode != nil {
			explode = *p.Explode
		}
		if properties[arg] = p.Schema; p.Required {
			required = append(required, arg)
		}
		if p.In == "path" {
			inPath = append(inPath, p.Name)
		}
		call.Params = append(call.Params, toolplan.Param{Arg: arg, Name: p.Name, In: p.In, Style: p.Style, Explode: explode,
			Required: p.Required})
	}
	if call.Template == "" {
		call.Template = braces(o.Path, inPath)
	}
	if o.Body != nil {
		required = append(required, o.body(t, call, properties)...)
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required})
	if err != nil {
		t.Fatal(err)
	}
	return toolplan.Tool{Name: "op", Method: o.Method, Path: o.Path, Description: "op", InputSchema: schema, Call: call}
}

// body adds the body to the plan and its arguments to the properties, and returns those
// that are required.
func (o operation) body(t *testing.T, call *toolplan.Call, properties map[string]json.RawMessage) (required []string) {
	call.Body = &toolplan.Body{ContentType: o.Body.ContentType, Required: o.Body.Required}
	if o.Body.Mode == "whole" {
		call.Body.Whole, properties["body"] = "body", json.RawMessage("{}")
		if o.Body.Required {
			return []string{"body"}
		}
		return nil
	}
	schemas := map[string]json.RawMessage{}
	decode(t, o.Body.Properties, &schemas)
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		var more struct {
			Arg    string `json:"x-arg"`
			Format string
		}
		if err := json.Unmarshal(schemas[name], &more); err != nil {
			t.Fatal(err)
		}
		f := toolplan.Field{Arg: name, Name: name, Required: slices.Contains(o.Body.RequiredProps, name),
			File: more.Format == "binary"}
		if more.Arg != "" {
			f.Arg = more.Arg
		}
		properties[f.Arg] = schemas[name]
		call.Body.Fields = append(call.Body.Fields, f)
		if f.Required && o.Body.Required {
			required = append(required, f.Arg)
		}
	}
	return required
}

// braces turns the declared names of a public path back into a template: the longest
// first, each place once, what is no declared name left alone.
func braces(path string, names []string) string {
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	var out strings.Builder
	for path != "" {
		i := slices.IndexFunc(names, func(n string) bool { return strings.HasPrefix(path, ":"+n) })
		if i < 0 {
			out.WriteByte(path[0])
			path = path[1:]
			continue
		}
		out.WriteString("{" + names[i] + "}")
		path = path[1+len(names[i]):]
	}
	return out.String()
}
