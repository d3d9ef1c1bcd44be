package registry

import (
	"mime"
	"slices"
	"strings"
	"unicode"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
	"github.com/keystile/keystile/storage/toolplan"
)

// Media types whose bodies are put together from arguments.
const (
	typeJSON      = "application/json"
	typeForm      = "application/x-www-form-urlencoded"
	typeMultipart = "multipart/form-data"
)

// body is what a request carries: fields, or one argument that is all of it.
type body struct {
	toolplan.Body
	whole bool
	empty bool // nothing is said of what it holds
	args  []argument
}

// body returns that of an operation, nil if it has none. A GET that has an empty object for
// a body needs none: generators write one for every operation.
func (d *document) body(op operation, parameters []parameter, view *toolschema.Projection) *body {
	b := d.anyBody(op, parameters, view)
	if b != nil && b.empty && op.method == "get" {
		return nil
	}
	return b
}

func (d *document) anyBody(op operation, parameters []parameter, view *toolschema.Projection) *body {
	if n := op.node.Get("requestBody"); n.Value != nil && !d.two {
		return d.requestBody(n, view)
	}
	var form []parameter
	for _, p := range parameters {
		switch p.in {
		case "body":
			b := d.bodyOf(p.node.Get("schema"), mediaType(d.consumes(op)), p.True("required"), view)
			if b.whole {
				b.args[0].Schema = toolschema.Described(b.args[0].Schema, p.Text("description"))
			}
			return b
		case "formData":
			form = append(form, p)
		}
	}
	return d.form(form, d.consumes(op), view)
}

// requestBody reads the body of OpenAPI 3.
func (d *document) requestBody(n toolschema.Node, view *toolschema.Projection) *body {
	target, err := d.Follow(n)
	if err != nil {
		d.skips.add(n, err.Error())
		return nil
	}
	v, _ := target.Value.(tree.Object)
	content, _ := v.Get("content").(tree.Object)
	kind, media := choose(target.Get("content"), content)
	if media.Value == nil {
		d.skips.add(target, "a request body without content")
		return nil
	}
	b := d.bodyOf(media.Get("schema"), kind, v.True("required"), view)
	d.encode(b, media.Get("encoding"), view)
	return b
}

// bodyOf returns the body that a schema describes: an object is taken apart into fields,
// anything else is one argument.
func (d *document) bodyOf(schema toolschema.Node, kind string, required bool, view *toolschema.Projection) *body {
	b := &body{Body: toolplan.Body{ContentType: kind, Required: required}}
	if schema.Value == nil {
		schema.Value = true // anything
	}
	if !isJSON(kind) && kind != typeForm && kind != typeMultipart {
		return d.textBody(b, schema, view)
	}
	fields, more, ok := view.Object(schema)
	fields = slices.DeleteFunc(fields, func(f toolschema.Field) bool {
		odd := kind == typeMultipart && strings.ContainsFunc(f.Name, unicode.IsControl)
		if odd {
			d.skips.add(schema, "a field with control characters in its name")
		}
		return odd
	})
	if !ok || len(fields) == 0 {
		shown, _ := view.Schema(d.resolveTop(schema))
		b.empty = ok && more == nil
		return b.asOneArgument(shown)
	}
	for _, f := range fields {
		b.args = append(b.args, argument{in: "body", Field: f, form: fileField(f, kind)})
	}
	if more != nil {
		b.args = append(b.args, argument{in: "body", more: true, Field: toolschema.Field{Name: additionalName, Schema: *more}})
	}
	return b
}

// additionalName is the argument for the members of a body that its schema allows and does
// not name. A field that has this name keeps it.
const additionalName = "additionalProperties"

// fileField is how a form writes a file whose schema says its type, nil of anything else.
func fileField(f toolschema.Field, kind string) *formField {
	if kind != typeMultipart || !f.Binary || f.MediaType == "" || restcall.CheckMediaTypes(f.MediaType) != nil {
		return nil
	}
	return &formField{Field: toolplan.Field{ContentType: strings.Clone(f.MediaType)}}
}

// textBody is a body that no rule makes from values: the caller writes it.
func (d *document) textBody(b *body, schema toolschema.Node, view *toolschema.Projection) *body {
	shown, _ := view.Schema(d.resolveTop(schema))
	if shown.Get("type") != "string" {
		shown = toolschema.Described(tree.Object{{Key: "type", Value: "string"}}, "the whole body, as "+b.ContentType)
	}
	return b.asOneArgument(shown)
}

func (b *body) asOneArgument(schema tree.Object) *body {
	b.whole = true
	b.args = []argument{{in: "body", Field: toolschema.Field{Name: "body", Schema: schema, Required: true}}}
	return b
}

// form reads the formData parameters of OpenAPI 2.0. A file can only go in a multipart.
func (d *document) form(parameters []parameter, consumes []string, view *toolschema.Projection) *body {
	b := &body{Body: toolplan.Body{ContentType: typeForm}}
	if !slices.Contains(consumes, typeForm) && slices.Contains(consumes, typeMultipart) {
		b.ContentType = typeMultipart
	}
	for _, p := range parameters {
		schema, ok := view.Schema(p.node)
		if !ok {
			continue
		}
		file := p.Get("type") == "file"
		if file {
			b.ContentType = typeMultipart
		}
		b.Required = b.Required || p.True("required")
		b.args = append(b.args, argument{in: "body", Field: toolschema.Field{
			Name: p.name, Schema: schema, Required: p.True("required"), Binary: file,
		}, form: d.collectionField(p)})
	}
	if len(b.args) == 0 {
		return nil
	}
	return b
}

// consumes returns the media types that OpenAPI 2.0 names for an operation.
func (d *document) consumes(op operation) (out []string) {
	list, is := op.node.Get("consumes").Value.(tree.Array)
	if !is {
		list, _ = d.Root().Get("consumes").Value.(tree.Array)
	}
	for i := range min(len(list), maxMedia) {
		if kind := mediaTypeOf(list[i]); kind != "" {
			out = append(out, kind)
		}
	}
	return out
}

// maxMedia bounds the media types that are looked at.
const maxMedia = 64

// choose returns the media type of a content object that suits tools best, without its
// parameters, and its media type object, whose Value is nil if there is none.
func choose(at toolschema.Node, content tree.Object) (kind string, media toolschema.Node) {
	var kinds, keys []string
	for _, m := range content[:min(len(content), maxMedia)] {
		if _, is := m.Value.(tree.Object); is && mediaTypeOf(m.Key) != "" {
			kinds, keys = append(kinds, mediaTypeOf(m.Key)), append(keys, m.Key)
		}
	}
	if len(kinds) == 0 {
		return "", toolschema.Node{}
	}
	best := preferred(kinds)
	return concreteType(kinds[best]), at.Get(keys[best])
}

// mediaType returns the one of a list that suits tools best, JSON if there is none.
func mediaType(kinds []string) string {
	if len(kinds) == 0 {
		return typeJSON
	}
	return concreteType(kinds[preferred(kinds)])
}

// preferred returns the place of the media type that suits tools best: what carries every
// value first, then what carries fields, then by the alphabet.
func preferred(kinds []string) int {
	rank := func(kind string) int {
		switch {
		case kind == typeJSON:
			return 0
		case strings.HasSuffix(kind, "+json"):
			return 1
		case concreteType(kind) == typeJSON:
			return 2
		case kind == typeForm:
			return 3
		case kind == typeMultipart:
			return 4
		}
		return 5
	}
	best := 0
	for i, kind := range kinds {
		if a, b := rank(kind), rank(kinds[best]); a < b || a == b && kind < kinds[best] {
			best = i
		}
	}
	return best
}

// concreteType is the type that goes out for one that a document names: a range takes JSON.
func concreteType(kind string) string {
	if kind == "*/*" || kind == "application/*" {
		return typeJSON
	}
	return kind
}

func isJSON(kind string) bool { return kind == typeJSON || strings.HasSuffix(kind, "+json") }

// mediaTypeOf returns a media type in lower case and without parameters, "" if it is none.
func mediaTypeOf(v any) string {
	s, _ := v.(string)
	kind, _, _ := strings.Cut(s, ";")
	kind, _, err := mime.ParseMediaType(strings.TrimSpace(kind))
	if err != nil || !strings.Contains(kind, "/") {
		return ""
	}
	return kind
}
