package toolschema

import (
	"slices"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/toolschema/tree"
)

// Encodings of bytes, for the descriptions of the schemas that admit them.
const (
	howBytes    = `bytes: base64, a data URL, or an object with data, name and type`
	howOrBytes  = `bytes: a data URL, or an object with data, name and type; anything else is sent as it is`
	howInObject = `base64 or a data URL`
)

// fileObject is the schema of a file as an object.
var fileObject = tree.Object{
	{Key: "additionalProperties", Value: false},
	{Key: "properties", Value: tree.Object{
		{Key: "data", Value: tree.Object{{Key: "description", Value: howInObject}, {Key: "type", Value: "string"}}},
		{Key: "name", Value: tree.Object{{Key: "description", Value: "file name"}, {Key: "type", Value: "string"}}},
		{Key: "type", Value: tree.Object{{Key: "description", Value: "media type, such as image/png"}, {Key: "type",
			Value: "string"}}},
	}},
	{Key: "required", Value: tree.Array{"data"}},
	{Key: "type", Value: "object"},
}

// Schema returns what is shown of a value that may be bytes: how they are given, and each
// form that is taken. plain is what would be shown of it otherwise.
func (b Bytes) Schema(plain tree.Object) tree.Object {
	var out, forms tree.Object
	for _, m := range plain {
		if slices.Contains([]string{"title", "description", "deprecated"}, m.Key) {
			out = append(out, m)
		} else if m.Key != "default" {
			forms = append(forms, m)
		}
	}
	switch {
	case !b.Only():
		if constrains(forms) && !b.Any {
			forms = tree.Object{{Key: "anyOf", Value: tree.Array{forms, fileObject}}}
		}
		return hinted(merge(out, forms), howOrBytes)
	case !b.File && !b.null:
		return tree.NewObject(append(out, b.list()...)...)
	}
	var branches tree.Array
	if b.File {
		branches = append(branches, b.asText(), fileObject)
	}
	if b.Files {
		branches = append(branches, b.list())
	}
	if b.null {
		branches = append(branches, tree.Object{{Key: "type", Value: "null"}})
	}
	out = tree.NewObject(append(out, tree.Member{Key: "anyOf", Value: branches})...)
	if out.Text("description") == "" {
		out = Described(out, b.text)
	}
	if !b.File {
		return out
	}
	return hinted(out, howBytes)
}

// asText is the schema of bytes in a text.
func (b Bytes) asText() (out tree.Object) {
	if len(b.Media) == 1 {
		out = append(out, tree.Member{Key: "contentMediaType", Value: b.Media[0]})
	}
	if b.format != "" {
		out = append(out, tree.Member{Key: "format", Value: b.format})
	}
	return append(out, tree.Member{Key: "type", Value: "string"})
}

// list is the schema of a list of bytes.
func (b Bytes) list() tree.Object {
	item := Described(tree.Object{{Key: "anyOf", Value: tree.Array{b.asText(), fileObject}}}, b.description)
	return tree.NewObject(append(slices.Clone(b.ofList), tree.Member{Key: "items", Value: hinted(item, howBytes)},
		tree.Member{Key: "type", Value: "array"})...)
}

// hinted adds how a value is given to its description, which is cut so that both are shown.
func hinted(schema tree.Object, how string) tree.Object {
	text := Text(schema.Text("description"))
	if text == "" {
		return Described(schema, how)
	}
	if room := maxRunes - len(how) - len(" ()"); utf8.RuneCountInString(text) > room {
		text = string([]rune(text)[:room])
	}
	return Described(schema, text+" ("+how+")")
}

// Hinted returns a schema whose description also says how the value is given.
func Hinted(schema tree.Object, how string) tree.Object { return hinted(schema, how) }
