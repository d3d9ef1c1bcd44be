package openapi

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
	"github.com/keystile/keystile/storage/toolplan"
)

// queryString returns the arguments of a parameter that is all of the query (OpenAPI 3.2). The fields of
// a form are parameters of the query like others; of any other media type the query is one value.
//
// The fields of a form are arguments like those of any query; of another media type the query is one argument.
func (d *document) queryString(p parameter, view *toolschema.Projection) []argument {
	kind, media := d.choose(p.node.Get("content"))
	if media.Value == nil {
		d.skips.add(p.node, "a querystring without content")
		return nil
	}
	schema := media.Get("schema")
	if schema.Value == nil {
		schema.Value = true
	}
	required := p.True("required")
	if kind != typeForm {
		shown, _ := view.Schema(d.resolveTop(schema))
		return []argument{{
			in: "querystring", param: toolplan.Param{JSON: isJSON(kind)},
			Field: toolschema.Field{Name: p.name, Required: required, Schema: toolschema.Described(shown, p.said)},
		}}
	}
	fields, more, ok := view.Object(schema)
	if !ok || len(fields) == 0 {
		shown, _ := view.Schema(d.resolveTop(schema))
		return []argument{{
			in: "query", param: toolplan.Param{Explode: true},
			Field: toolschema.Field{Name: p.name, Required: required, Schema: toolschema.Described(shown, p.said)},
		}}
	}
	var out []argument
	for _, f := range fields {
		if strings.ContainsFunc(f.Name, unicode.IsControl) {
			d.skips.add(schema, fmt.Sprintf("the field %q has control characters in its name", f.Name))
			continue
		}
		f.Required = f.Required && required
		out = append(out, argument{in: "query", Field: f, param: d.queryField(f, media.Get("encoding").Get(f.Name))})
	}
	named := slices.ContainsFunc(fields, func(f toolschema.Field) bool { return f.Name == additionalName })
	if more != nil && !named { // else the field keeps the name
		out = append(out, argument{in: "query", more: true, param: toolplan.Param{Explode: true},
			Field: toolschema.Field{Name: additionalName, Schema: more.Schema}})
	}
	return out
}

// besideQuery reports another parameter of the query.
func (p parameter) besideQuery(other parameter) bool {
	return other.in == "query" || other.in == "querystring" && other.name != p.name
}

// queryField returns how a field of a querystring is written: a list as one parameter for each element and an
// object as JSON, unless its encoding says otherwise.
func (d *document) queryField(f toolschema.Field, encoding toolschema.Node) (out toolplan.Param) {
	if v, is := encoding.Value.(tree.Object); is && (v.Text("style") != "" || v.Get("explode") != nil) {
		out.Style, out.Explode = d.serialization(parameter{Object: v, node: encoding, name: f.Name, in: "query"})
		return out
	}
	out.Explode = f.Schema.Get("type") != "object"
	out.JSON = !out.Explode
	return out
}
