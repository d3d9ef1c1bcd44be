package openapi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
)

// textBody returns a body that is not made of fields: a text that the caller writes, bytes, or either.
//
// The fields of a body of XML, or of another text whose schema is an object, stand in the description of its one
// argument; a body of JSON lines takes a list, of which each element is a line.
func (d *document) textBody(b *body, offers []offer, view *toolschema.Projection) *body {
	best := offers[0]
	shown, _ := view.Schema(d.resolveTop(orTrue(best.schema)))
	shown = toolschema.Described(shown, best.said)
	var types []string
	for _, o := range offers {
		if o.kind == kindBytes || o.kind == kindAnything || o.bytes.Said() && o.kind == kindText {
			types = append(types, strings.Clone(o.full))
		}
	}
	types = types[:min(len(types), restcall.MaxMediaTypes)] // the others are listed as those that are not sent
	switch best.kind {
	case kindBytes:
		b.File = true
		b.ContentType = concrete(types)
		if types = concreteFirst(types, best.bytes.Media); len(types) > 1 || types[0] != b.ContentType {
			b.Types = types
		}
		return b.asOneArgument(wholeBytes(best.bytes, shown, types))
	case kindAnything:
		b.File, b.OrText, b.ContentType, b.Types = true, true, typeJSON, types
		how := "the whole body, which is sent as JSON"
		if best.bare == "*/*" {
			how = "the whole body: a text is sent as text/plain, anything else as JSON"
		}
		return b.asOneArgument(best.bytes.Schema(described(shown, how)))
	}
	if strings.Contains(best.bare, "*") {
		b.ContentType = typeText
	}
	if restcall.IsLines(best.bare) {
		return b.asOneArgument(d.lines(best, shown, view))
	}
	if shown.Get("type") != "string" {
		shown = toolschema.Described(tree.Object{{Key: "type", Value: "string"}},
			d.fieldsOf("the whole body, as "+b.ContentType, best.schema, view))
	}
	if len(types) > 0 {
		b.File, b.OrText, b.Types = true, true, types
		shown = toolschema.Bytes{File: true, Other: true}.Schema(described(shown, "the whole body, as "+b.ContentType))
	}
	return b.asOneArgument(shown)
}

// concrete returns the first of some types that is no range, which all bytes can have if there is none.
func concrete(types []string) string {
	if i := slices.IndexFunc(types, func(t string) bool { return !strings.Contains(t, "*") }); i >= 0 {
		return types[i]
	}
	return typeBytes
}

// concreteFirst puts the types that the schema of a range names before it.
func concreteFirst(types, named []string) []string {
	if len(types) != 1 || !strings.Contains(types[0], "*") {
		return types
	}
	out := slices.DeleteFunc(slices.Clone(named), func(t string) bool { return restcall.CheckMediaTypes(t) != nil })
	for i := range out {
		out[i] = strings.Clone(out[i])
	}
	return append(out, types...)
}

// wholeBytes is shown of a body that is bytes.
func wholeBytes(of toolschema.Bytes, shown tree.Object, types []string) tree.Object {
	of.File, of.Files, of.Other, of.Any = true, false, false, false
	return of.Schema(described(shown, "the whole body, as "+strings.Join(types, " or ")))
}

// described returns a schema with a description, its own if it has one.
func described(schema tree.Object, otherwise string) tree.Object {
	if schema.Text("description") != "" {
		return schema
	}
	return toolschema.Described(schema, otherwise)
}

// lines is shown of a body of JSON values, one after the other: a list of them.
func (d *document) lines(best offer, shown tree.Object, view *toolschema.Projection) tree.Object {
	how := "the whole body, as " + best.full + ": a list, of which each element is sent as a line of JSON"
	item := best.schema
	if view.Type(item) == "array" {
		item = d.resolveTop(item).Get("items")
	}
	how = d.fieldsOf(how, item, view)
	items, _ := view.Schema(d.resolveTop(orTrue(item)))
	if items.Get("type") == "string" && best.media.Get("schema").Value != nil {
		items = nil // of a document that has no better word for lines
	}
	out := tree.Object{{Key: "items", Value: items}, {Key: "type", Value: "array"}}
	return toolschema.Described(described(out, shown.Text("description")), how)
}

// fieldsOf adds to a text which fields the values of a schema have, for those who write them by hand.
func (d *document) fieldsOf(text string, schema toolschema.Node, view *toolschema.Projection) string {
	target := d.resolveTop(orTrue(schema))
	if v, _ := target.Value.(tree.Object); v != nil {
		xml, _ := v.Get("xml").(tree.Object)
		if name := xml.Text("name"); name != "" {
			text += fmt.Sprintf(", within <%s>", name)
		}
	}
	fields, _, ok := view.Object(target)
	if !ok || len(fields) == 0 {
		return text
	}
	var words []string
	for _, f := range fields {
		words = append(words, fieldInWords(f))
	}
	return text + ". Fields: " + strings.Join(words, "; ")
}

// fieldInWords says what a field is: its name, type, and whether it is needed.
func fieldInWords(f toolschema.Field) string {
	var notes []string
	switch t := f.Schema.Get("type").(type) {
	case string:
		notes = append(notes, t)
	case tree.Array:
		for _, one := range t {
			if one != "null" {
				notes = append(notes, fmt.Sprint(one))
			}
		}
	}
	if values, _ := f.Schema.Get("enum").(tree.Array); len(values) > 0 && len(values) <= 16 {
		text, _ := tree.Append(nil, values, 200)
		notes = append(notes, "one of "+string(text))
	}
	if f.Required {
		notes = append(notes, "required")
	}
	out := f.Name
	if len(notes) > 0 {
		out += " (" + strings.Join(notes, ", ") + ")"
	}
	if text := f.Schema.Text("description"); text != "" {
		runes := []rune(text)
		out += ": " + string(runes[:min(len(runes), 80)])
	}
	return out
}
