package openapi

import (
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
	"github.com/keystile/keystile/storage/toolplan"
)

// encode reads how the media type object of a form writes its fields. Of other bodies the
// encoding is ignored, as OpenAPI has it.
//
// It is read for URL-encoded and multipart bodies. As soon as style, explode or allowReserved is there they count, and
// contentType does not; in the multiparts of 3.0 they never do, and for files they say nothing. Without them a list is
// one entry for each element, and an object is JSON. Lists in the forms of 2.0 are csv unless they say otherwise.
func (d *document) encode(b *body, encoding toolschema.Node, view *toolschema.Projection) {
	kind, _, _ := strings.Cut(b.ContentType, ";")
	if strings.HasPrefix(kind, anyMultipart) {
		kind = typeMultipart
	}
	if b.whole || kind != typeForm && kind != typeMultipart {
		return
	}
	members, is := encoding.Value.(tree.Object)
	if !is && encoding.Value != nil {
		d.skips.add(encoding, "not an encoding of fields")
	}
	for i := range b.args {
		a := &b.args[i]
		if _, there := members.Lookup(a.Name); !there || a.more || !view.Step() {
			continue
		}
		at := encoding.Get(a.Name)
		n, err := d.Follow(at)
		if err != nil {
			d.skips.add(at, err.Error())
			continue
		}
		if _, is := n.Value.(tree.Object); !is {
			d.skips.add(n, "not an encoding of a field")
			continue
		}
		d.encodeField(a, n, kind, view)
	}
}

func (d *document) encodeField(a *argument, n toolschema.Node, kind string, view *toolschema.Projection) {
	if a.form == nil {
		a.form = &formField{}
	}
	d.style(a, n, kind)
	if v := n.Get("contentType"); v.Value != nil && a.form.Style == "" {
		text, is := v.Value.(string)
		if err := restcall.CheckMediaTypes(text); !is || err != nil || len(text) > maxTypes {
			d.skips.add(v, "not a list of media types")
		} else if text != "" {
			a.form.ContentType = strings.Clone(text)
			a.encodedAs(kind)
		}
	}
	if kind == typeMultipart {
		d.partHeaders(a, n.Get("headers"), view)
	}
}

// encodedAs makes a file of a text of a form that is sent as types that no text has: documents say so
// there alone.
func (a *argument) encodedAs(kind string) {
	texts := func(text string) bool {
		t, _, ok := mediaTypeOf(text)
		return !ok || !isBinary(t.bare) || isText(t.bare)
	}
	items, _ := a.Schema.Get("items").(tree.Object)
	list := items.Get("type") == "string" || a.Schema.Get("type") == "array" && len(items) == 0
	plain := list || a.Schema.Get("type") == "string" || a.Bytes.Any
	if kind != typeMultipart || a.Bytes.Said() || a.Bytes.Encoded || !plain ||
		slices.ContainsFunc(strings.Split(a.form.ContentType, ","), texts) {
		return
	}
	a.file, a.orText = true, false
	a.Bytes.File, a.Bytes.Files, a.Bytes.Other, a.Bytes.Any = !list, list, false, false
	a.Schema = a.Bytes.Schema(a.Schema)
}

// maxTypes bounds the text of the media types of a field.
const maxTypes = 1024

// style reads how a field is serialized. As soon as one of the three keywords is there they
// count, and the content type does not (OpenAPI 3.1); in the parts of 3.0 they never do, and
// of files they say nothing.
func (d *document) style(a *argument, n toolschema.Node, kind string) {
	v, _ := n.Value.(tree.Object)
	_, exploded := v.Get("explode").(bool)
	explicit := v.Text("style") != "" || exploded || v.True("allowReserved")
	if !explicit || kind == typeMultipart && (a.Bytes.Only() || strings.HasPrefix(d.version, "3.0")) {
		return
	}
	style, explode := v.Text("style"), (*bool)(nil)
	if exploded && style != styleDeepObject { // which has one form only
		is := v.True("explode")
		explode = &is
	}
	method, ok := methodOf("query", style, explode)
	if !ok {
		d.skips.add(n.Get("style"), "not a way to write a field of a form")
		return
	}
	a.form.Style, a.form.Explode = strings.Clone(method.Style), method.Explode
	a.form.AllowReserved = kind == typeForm && v.True("allowReserved")
	a.form.ContentType = ""
}

// maxHeaders bounds the headers of one part.
const maxHeaders = 16

// partHeaders reads the headers of a part. One whose schema has one value only, or a
// default, is sent with that; one that is required and has none is an argument, named after
// the part and the header; any other is not sent.
//
// A header of a part is sent with the value that its schema fixes (const, an enum of one) or suggests (default). An
// example is neither. A required one without a value is an argument, <field>_<Header>, needed as soon as its part is
// given; any other is listed.
func (d *document) partHeaders(a *argument, headers toolschema.Node, view *toolschema.Projection) {
	members, is := headers.Value.(tree.Object)
	if !is && headers.Value != nil {
		d.skips.add(headers, "not the headers of a part")
	}
	for _, m := range members {
		at := headers.Get(m.Key)
		if strings.EqualFold(m.Key, "Content-Type") || !view.Step() { // contentType says it
			continue
		}
		n, err := d.Follow(at)
		if err != nil {
			d.skips.add(at, err.Error())
			continue
		}
		if !restcall.PartHeader(m.Key) || len(m.Key) > maxPath || len(a.form.headers) == maxHeaders {
			d.skips.add(at, "not a header that a part may have")
			continue
		}
		h := header{PartHeader: toolplan.PartHeader{Name: strings.Clone(m.Key)}}
		v, _ := n.Value.(tree.Object)
		schema := d.resolveTop(n.Get("schema"))
		if text, ok := fixedValue(schema); ok {
			h.Value = strings.Clone(text)
		} else if v.True("required") {
			shown, _ := view.Schema(schema)
			h.arg = &argument{in: "body", Field: toolschema.Field{
				Name: a.Name + "_" + m.Key, Schema: toolschema.Described(shown, v.Text("description")), Required: a.Required,
			}}
		} else {
			d.skips.add(at, "an optional header of a part without a value: it is not sent")
			continue
		}
		a.form.headers = append(a.form.headers, h)
	}
}

// fixedValue returns the value that a schema leaves, or else suggests, as a text.
func fixedValue(schema toolschema.Node) (text string, ok bool) {
	v, _ := schema.Value.(tree.Object)
	value := v.Get("const")
	if list, _ := v.Get("enum").(tree.Array); value == nil && len(list) == 1 {
		value = list[0]
	}
	if value == nil {
		value = v.Get("default")
	}
	switch value := value.(type) {
	case string:
		text = value
	case tree.Number:
		text = string(value)
	case bool:
		text = map[bool]string{true: "true", false: "false"}[value]
	default:
		return "", false
	}
	return text, len(text) <= maxPath && toolschema.Visible(text)
}

// collectionField reads the collectionFormat of a list in a form of OpenAPI 2.0, whose default is
// csv.
func (d *document) collectionField(p parameter) *formField {
	if p.Get("type") != "array" {
		return nil
	}
	f, known := collections[p.Text("collectionFormat")]
	if !known {
		d.skips.add(p.node.Get("collectionFormat"), "not a way to write a field of a form")
		f = collections["csv"]
	}
	return &formField{Field: f}
}

var collections = map[string]toolplan.Field{
	"":      {Style: styleForm},
	"csv":   {Style: styleForm},
	"ssv":   {Style: styleSpaceDelimited},
	"pipes": {Style: stylePipeDelimited},
	"tsv":   {Style: "tabDelimited"},
	"multi": {Style: styleForm, Explode: true},
}
