package openapi

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
	"github.com/keystile/keystile/storage/toolplan"
)

// body describes a request body: fields, or one argument that is all of it.
//
// A choice at the top of a body becomes the arguments of all its branches, if each of them is an object; otherwise one
// argument `body` carries it, because leaving out a branch would make it uncallable. A body that is neither JSON nor a
// form is one argument: a text, or bytes if its schema or its media type says so. Without a schema it is bytes unless
// its type is one of texts; an octet stream, an image and the like are bytes whatever their schema says, unless that
// asks for base64. Of several types of bytes the bytes decide, or the caller; a range is sent as their own type, a
// text of a range as text/plain.
//
// additionalProperties that is true or a schema, beside properties, makes one argument of that name whose members
// become members of the body; a field of that name keeps it. Without it there is no such argument, though JSON Schema
// would allow more: models would fill it in every tool. A body without a description makes no argument of a GET:
// generators write one everywhere.
type body struct {
	toolplan.Body
	whole bool
	empty bool // the document does not describe it
	args  []argument
}

// body returns that of an operation, nil if it has none. A GET that has an empty object for
// a body needs none: generators write one for every operation.
func (d *document) body(op operation, parameters []parameter, view *toolschema.Projection) *body {
	b := d.anyBody(op, parameters, view)
	d.listOtherBodies(op, parameters)
	if b != nil && b.empty && op.method == "get" {
		d.skips.addUsual(op.node, "a body of which nothing is said is no argument of a GET")
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
			offers := d.offersOf(d.consumes(op), p.node.Get("schema"), view)
			offers[0].said = p.Text("description")
			b := d.bodyOf(offers, p.True("required"), view)
			if d.unsent(typesOf(offers), b.Body); b.whole && !b.File {
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
	offers := d.offers(target.Get("content"), view)
	if len(offers) == 0 {
		d.skips.add(target, "a request body without content")
		return nil
	}
	b := d.bodyOf(offers, v.True("required"), view)
	for _, o := range offers[1:] {
		if o.full == offers[0].full {
			d.skips.add(o.at, o.full+" is there twice, and one of them counts")
		}
	}
	d.unsent(typesOf(offers), b.Body)
	d.listSequence(offers[0])
	d.encode(b, offers[0].media.Get("encoding"), view)
	return b
}

// bodyOf returns the body of the best of some offers: an object is taken apart into fields,
// anything else is one argument.
func (d *document) bodyOf(offers []offer, required bool, view *toolschema.Projection) *body {
	best := offers[0]
	b := &body{Body: toolplan.Body{ContentType: best.full, Required: required}}
	schema := orTrue(best.schema)
	switch best.kind {
	case kindText, kindBytes, kindAnything:
		return d.textBody(b, offers, view)
	case kindMultipart:
		b.ContentType = strings.Replace(b.ContentType, "multipart/*", typeMultipart, 1)
		return d.formBody(b, schema, view)
	}
	if strings.Contains(best.bare, "*") {
		b.ContentType = typeJSON
	}
	fields, more, ok := view.Object(schema)
	if !ok || len(fields) == 0 {
		shown, _ := view.Schema(d.resolveTop(schema))
		if b.empty = ok && more == nil; best.kind == kindForm {
			shown = anObject(shown)
		}
		return b.asOneArgument(shown)
	}
	b.add(fields, more)
	return b
}

// formBody returns a multipart body. Its fields may be bytes.
func (d *document) formBody(b *body, schema toolschema.Node, view *toolschema.Projection) *body {
	fields, more, ok := view.Form(schema)
	fields = slices.DeleteFunc(fields, func(f toolschema.Field) bool {
		odd := strings.ContainsFunc(f.Name, unicode.IsControl)
		if odd {
			d.skips.add(schema, fmt.Sprintf("the field %q has control characters in its name", f.Name))
		}
		return odd
	})
	if !ok && view.Bytes(schema).Said() {
		shown, _ := view.Schema(d.resolveTop(schema))
		d.skips.add(schema, "not the fields of a form: the file is sent as the field file")
		fields = []toolschema.Field{{Name: "file", Schema: shown, Required: true, Bytes: view.Bytes(schema)}}
	} else if !ok || len(fields) == 0 {
		if !ok {
			d.skips.add(schema, "not the fields of a form: they are the members of the one argument")
		}
		shown, _ := view.Schema(d.resolveTop(schema))
		b.empty = ok && more == nil
		shown = anObject(shown)
		switch {
		case more != nil && more.Bytes.Said():
			shown = toolschema.Described(more.Schema, shown.Text("description"))
			b.File, b.OrText = true, !more.Bytes.Only()
		case view.Bytes(schema).Any:
			b.File, b.OrText = true, true
			shown = toolschema.Hinted(shown, howMembers)
		}
		return b.asOneArgument(shown)
	}
	for i := range fields {
		if file, _ := d.partsAreFiles(fields[i].Bytes); file {
			fields[i].Schema = fields[i].Bytes.Schema(fields[i].Schema)
		}
	}
	b.add(fields, more)
	for i := range b.args {
		a := &b.args[i]
		if a.more {
			b.File, b.OrText = a.Bytes.Said(), a.Bytes.Said() && !a.Bytes.Only()
			continue
		}
		a.file, a.orText = d.partsAreFiles(a.Bytes)
		a.form = fileField(a.Field)
	}
	return b
}

// howMembers says how files are given in a form that the document does not describe.
const howMembers = "the fields of the form; one that is a data URL, or an object with data, name and type, is a file"

// partsAreFiles reports whether the parts of a field may be files, and whether they may be texts too.
// From 3.1 on a schema that says nothing may be bytes.
func (d *document) partsAreFiles(b toolschema.Bytes) (file, orText bool) {
	return b.Said() || b.Any && !d.two && !strings.HasPrefix(d.version, "3.0"), !b.Only()
}

func (b *body) add(fields []toolschema.Field, more *toolschema.Field) {
	for _, f := range fields {
		b.args = append(b.args, argument{in: "body", Field: f})
	}
	if more != nil {
		more.Name = additionalName
		b.args = append(b.args, argument{in: "body", more: true, Field: *more})
	}
}

// anObject is the schema of a form whose fields are the members of one argument.
func anObject(shown tree.Object) tree.Object {
	if shown.Get("type") == "object" || shown.Get("type") == nil && shown.Get("anyOf") == nil {
		return shown
	}
	return tree.Object{{Key: "description", Value: "the fields of the form"}, {Key: "type", Value: "object"}}
}

// additionalName names the argument for the members of a body that its schema allows and does
// not name. A field that has this name keeps it.
const additionalName = "additionalProperties"

// fileField returns how a form writes a file whose schema names its types, nil for anything else.
//
// A file is one however its schema says so: at once, in a branch of a choice, behind references, in the parts of an
// allOf, in a list, by the media types of its encoding, and from 3.1 on by saying nothing, in multipart/form-data and
// in any other multipart. Its schema is shown with each form in which bytes are taken. The length of a text says
// nothing of base64, so it is not shown. Where a text is admitted too, bytes are a data URL or an object, and anything
// else is the text.
func fileField(f toolschema.Field) *formField {
	types := strings.Join(f.Bytes.Media, ", ")
	if !f.Bytes.Said() || types == "" || restcall.CheckMediaTypes(types) != nil {
		return nil
	}
	return &formField{Field: toolplan.Field{ContentType: strings.Clone(types)}}
}

func (b *body) asOneArgument(schema tree.Object) *body {
	b.whole = true
	b.args = []argument{{in: "body", Field: toolschema.Field{Name: "body", Schema: schema, Required: true}}}
	return b
}

// form reads the formData parameters of OpenAPI 2.0. A file can only go in a multipart.
func (d *document) form(parameters []parameter, consumes []mediaType, view *toolschema.Projection) *body {
	b := &body{Body: toolplan.Body{ContentType: typeForm}}
	takes := func(bare string) bool {
		return slices.ContainsFunc(consumes, func(t mediaType) bool { return t.bare == bare })
	}
	if !takes(typeForm) && takes(typeMultipart) {
		b.ContentType = typeMultipart
	}
	for _, p := range parameters {
		schema, ok := view.Schema(p.node)
		if !ok {
			continue
		}
		bytes := view.Bytes(p.node)
		if bytes.Said() && (takes(typeMultipart) || view.Type(p.node) == "file" || !takes(typeForm)) {
			b.ContentType = typeMultipart
		}
		b.Required = b.Required || p.True("required")
		b.args = append(b.args, argument{in: "body", Field: toolschema.Field{
			Name: p.name, Schema: schema, Required: p.True("required"), Bytes: bytes,
		}, form: d.collectionField(p)})
	}
	for i := range b.args {
		if a := &b.args[i]; b.ContentType == typeMultipart && a.Bytes.Said() {
			a.file, a.orText, a.Schema = true, !a.Bytes.Only(), a.Bytes.Schema(a.Schema)
		}
	}
	if len(b.args) == 0 {
		return nil
	}
	d.unsent(consumes, b.Body)
	return b
}

// consumes returns the media types that OpenAPI 2.0 names for an operation.
func (d *document) consumes(op operation) (out []mediaType) {
	at := op.node.Get("consumes")
	if _, is := at.Value.(tree.Array); !is {
		at = d.Root().Get("consumes")
	}
	list, _ := at.Value.(tree.Array)
	for i := range min(len(list), maxMedia) {
		text, _ := list[i].(string)
		t, whole, ok := mediaTypeOf(text)
		switch {
		case !ok:
			d.skips.add(at.At(i), "not a media type")
			continue
		case !whole:
			d.skips.add(at.At(i), "not a media type as it stands: it is read as "+t.full)
		}
		t.at = at.At(i)
		out = append(out, t)
	}
	return out
}

// offersOf returns the offers of OpenAPI 2.0, which are of one schema: JSON if no type is named, and bytes if that is
// what the schema says.
func (d *document) offersOf(types []mediaType, schema toolschema.Node, view *toolschema.Projection) (out []offer) {
	if len(types) == 0 {
		types = []mediaType{{full: typeJSON, bare: typeJSON}}
		if view.Bytes(orTrue(schema)).Only() {
			types = []mediaType{{full: typeBytes, bare: typeBytes}}
		}
	}
	for _, t := range types {
		out = append(out, offer{mediaType: t, schema: schema})
	}
	judge(out, view)
	return out
}
