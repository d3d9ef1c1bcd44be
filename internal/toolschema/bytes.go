package toolschema

import (
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/toolschema/tree"
)

// Bytes says what of a value is bytes, which are sent as they are and not as text.
type Bytes struct {
	File  bool // the value may be bytes
	Files bool // it may be a list of such
	Other bool // it may be something else
	Any   bool // the value, or the elements of a list, have no schema

	Encoded bool // it may be a text of base64, which is what is sent

	Media []string // types of the bytes that the schema names

	null        bool
	format      string
	text        string      // what the schema says of the bytes
	ofList      tree.Object // keywords of a list
	description string      // what the schema says of the elements of a list
}

// maxMedia bounds the types that are kept of one value.
const maxMedia = 16

// Bytes reads which bytes a schema admits: itself, or in a branch of a choice, behind
// references, in the parts of allOf, or as the elements of a list.
func (p *Projection) Bytes(declared ...Node) (out Bytes) {
	for _, n := range declared {
		out.add(p.bytes(n, nil, 0))
	}
	return out
}

// Said reports whether bytes, or a list of them, are among what is admitted.
func (b Bytes) Said() bool { return b.File || b.Files }

// Only reports whether nothing else is admitted.
func (b Bytes) Only() bool { return b.Said() && !b.Other && !b.Any }

// Type returns the type of a schema, "" if it names none; of several the first that is not null.
func (p *Projection) Type(n Node) string {
	v := p.flat(n, 0)
	if name := v.Text("type"); name != "" {
		return name
	}
	for _, name := range list(v, "type") {
		if name, is := name.(string); is && name != "null" {
			return name
		}
	}
	return ""
}

// HasFiles reports an object with a property that is bytes.
func (p *Projection) HasFiles(n Node) bool {
	return p.hasFiles(n, 0)
}

func (p *Projection) hasFiles(n Node, level int) bool {
	if level > maxLevels || !p.Step() {
		return false
	}
	v := p.flat(n, level)
	properties, _ := v.Get("properties").(tree.Object)
	of := func(m tree.Member) bool { return p.bytes(Node{Value: properties.Get(m.Key)}, nil, level+1).Said() }
	in := func(branch any) bool { return p.hasFiles(Node{Value: branch}, level+1) }
	return slices.ContainsFunc(properties, of) || slices.ContainsFunc(list(v, "anyOf"), in) ||
		slices.ContainsFunc(list(v, "oneOf"), in)
}

func (b *Bytes) add(more Bytes) {
	b.File, b.Files = b.File || more.File, b.Files || more.Files
	b.Other, b.Any, b.null = b.Other || more.Other, b.Any || more.Any, b.null || more.null
	b.Encoded = b.Encoded || more.Encoded
	for _, media := range more.Media {
		if len(b.Media) < maxMedia && !slices.Contains(b.Media, media) {
			b.Media = append(b.Media, media)
		}
	}
	if b.format == "" {
		b.format = more.format
	}
	if b.text == "" {
		b.text = more.text
	}
	if more.Files && b.ofList == nil {
		b.ofList, b.description = more.ofList, more.description
	}
}

// bytes reads a schema together with what the schemas around it say of the same value.
func (p *Projection) bytes(n Node, around tree.Object, level int) (out Bytes) {
	if level > maxLevels || !p.Step() {
		return Bytes{Other: true}
	}
	v := merge(around, p.flat(n, level))
	for _, key := range []string{"anyOf", "oneOf"} {
		branches := list(v, key)
		if len(branches) == 0 {
			continue
		}
		rest := slices.DeleteFunc(slices.Clone(v), func(m tree.Member) bool {
			return m.Key == "anyOf" ||
				m.Key == "oneOf"
		})
		for _, branch := range branches[:min(len(branches), maxBranches)] {
			out.add(p.bytes(Node{Value: branch}, rest, level+1))
		}
		return out
	}
	return p.plainBytes(v, level)
}

// aboutBytes are the keywords by which bytes are known.
var aboutBytes = []string{
	"type", "format", "contentMediaType", "contentEncoding", "nullable", "x-nullable", "items", "minItems", "maxItems",
	"uniqueItems",
	"anyOf", "oneOf", "enum", "const", "properties", "pattern", "description", "title",
}

// flat returns the keywords of a schema, of what it refers to, and of the parts of its allOf.
func (p *Projection) flat(n Node, level int) (out tree.Object) {
	own, _ := n.Value.(tree.Object)
	if _, ref := refOf(n.Value); ref {
		target, err := p.doc.Follow(n)
		if err != nil {
			return tree.Object{{Key: "type", Value: "unknown"}}
		}
		n, out = target, tree.Object{}
		if text := own.Text("description"); text != "" {
			defer func() { out = merge(out, tree.Object{{Key: "description", Value: text}}) }()
		}
		own, _ = n.Value.(tree.Object)
	}
	for _, part := range list(own, "allOf") {
		if level > maxLevels || !p.Step() {
			break
		}
		out = merge(out, p.flat(Node{Value: part}, level+1))
	}
	var said tree.Object
	for _, m := range own {
		if slices.Contains(aboutBytes, m.Key) {
			said = append(said, tree.Member{Key: m.Key, Value: own.Get(m.Key)})
		}
	}
	if n.Value == false {
		said = tree.Object{{Key: "type", Value: "nothing"}}
	}
	return merge(out, said)
}

// plainBytes reads a schema without a choice.
func (p *Projection) plainBytes(v tree.Object, level int) (out Bytes) {
	types, _ := v.Get("type").(tree.Array)
	if one := v.Get("type"); one != nil && types == nil {
		types = tree.Array{one}
	}
	out.null = v.True("nullable") || v.True("x-nullable")
	if len(types) == 0 {
		types = tree.Array{untyped(v)}
	}
	for _, t := range types {
		switch t {
		case "null":
			out.null = true
		case "file":
			out.add(Bytes{File: true, format: "binary"})
		case "string":
			out.add(textBytes(v))
		case "array":
			out.add(p.listOfBytes(v, level))
		case "":
			out.Any = true
		default:
			out.Other = true
		}
	}
	if out.File {
		out.text = v.Text("description")
	}
	return out
}

// untyped returns the type of a schema that names none, "" if it says nothing.
func untyped(v tree.Object) string {
	switch {
	case textBytes(v).File:
		return "string"
	case v.Get("items") != nil:
		return "array"
	case slices.ContainsFunc([]string{"enum", "const", "properties", "format", "contentEncoding", "pattern"},
		func(key string) bool { return v.Get(key) != nil }):
		return "other"
	}
	return ""
}

// textBytes reads the schema of a text: OpenAPI 2.0 and 3.0 say format binary of bytes, 3.1 a media
// type without an encoding.
func textBytes(v tree.Object) Bytes {
	media, encoding := v.Text("contentMediaType"), v.Text("contentEncoding")
	asTheyAre := slices.Contains([]string{"", "binary", "7bit", "8bit"}, encoding)
	if v.Get("format") != "binary" && encoding != "binary" && (media == "" || !asTheyAre) {
		return Bytes{Other: true, Encoded: strings.HasPrefix(encoding, "base") ||
			slices.Contains([]any{"byte", "base64",
				"base64url"}, v.Get("format"))}
	}
	out := Bytes{File: true, Other: v.Get("format") != "binary" && encoding == "" && isTextual(media)}
	if media != "" && len(media) <= maxWord && Visible(media) {
		out.Media = []string{media}
	}
	if v.Get("format") == "binary" {
		out.format = "binary"
	}
	return out
}

// isTextual reports a media type of texts: a schema that names one and no encoding is of a text, such as the JSON that
// pydantic has in a form, and may be of a file too.
func isTextual(media string) bool {
	bare, _, _ := strings.Cut(strings.ToLower(media), ";")
	bare = strings.TrimSpace(bare)
	return strings.HasPrefix(bare, "text/") || slices.ContainsFunc([]string{"/json", "+json", "/xml", "+xml", "/yaml"},
		func(end string) bool { return strings.HasSuffix(bare, end) })
}

func (p *Projection) listOfBytes(v tree.Object, level int) (out Bytes) {
	items, there := v.Lookup("items")
	if !there {
		return Bytes{Other: true}
	}
	inner := p.bytes(Node{Value: items}, nil, level+1)
	out = Bytes{Other: inner.Other || inner.Files, Any: inner.Any, Media: inner.Media, format: inner.format}
	if out.Files = inner.File; !out.Files {
		return out
	}
	for _, key := range []string{"maxItems", "minItems"} {
		if n := v.Get(key); count(n) {
			out.ofList = append(out.ofList, tree.Member{Key: key, Value: n})
		}
	}
	out.description = inner.text
	return out
}
