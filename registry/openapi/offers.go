package openapi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/toolschema/tree"
	"github.com/keystile/keystile/storage/toolplan"
)

// offer is one way to send a body: a media type, and what the document says of it.
//
// JSON comes first, then types that carry fields, then texts, then bytes; a form that has files comes before types
// that cannot carry them, a JSON patch is chosen for lists alone, a strategic merge patch after all others, and
// problem+json if there is nothing else. Of two that differ in numbers alone the higher is chosen, as the later
// version. Parameters of a media type are sent with it, except charset and boundary; a media type with a mistake is
// read up to the mistake, and is listed.
type offer struct {
	mediaType
	media  toolschema.Node // the media type object, of OpenAPI 3
	said   string          // what the document says of the body
	schema toolschema.Node
	bytes  toolschema.Bytes
	kind   bodyKind
	rank   int
}

// bodyKind says how a body is made of arguments.
type bodyKind int

const (
	kindJSON      bodyKind = iota // also of a range that admits it
	kindForm                      //
	kindMultipart                 //
	kindText                      // one text that the caller writes
	kindBytes                     //
	kindAnything                  // a range without a schema: a text, bytes or JSON
)

// Ranks of offers: the lowest suits tools best. Media types that carry every value come first, then those that
// carry fields, then texts and bytes.
const (
	rankJSON = 10 * iota
	rankOtherJSON
	rankJSONRange
	rankForm
	rankMultipart
	rankNoFiles // what cannot carry the files that its schema has as they are
	rankText
	rankBytes
	rankUnfit // JSON for what is bytes
	rankProblem
)

// offers reads the media types of a content object.
func (d *document) offers(at toolschema.Node, view *toolschema.Projection) (out []offer) {
	content, _ := at.Value.(tree.Object)
	if len(content) > maxMedia {
		d.skips.add(at, fmt.Sprintf("the media types behind the first %d", maxMedia))
	}
	for _, m := range content[:min(len(content), maxMedia)] {
		media, err := d.Follow(at.Get(m.Key)) // which may be a reference from 3.2 on
		if _, is := media.Value.(tree.Object); err != nil || !is {
			if !strings.HasPrefix(m.Key, "x-") {
				d.skips.add(at.Get(m.Key), "not a media type object")
			}
			continue
		}
		t, whole, ok := mediaTypeOf(m.Key)
		if !ok {
			d.skips.add(at.Get(m.Key), "not a media type")
			continue
		}
		if !whole {
			d.skips.add(at.Get(m.Key), "not a media type as it stands: it is read as "+t.full)
		}
		t.at = at.Get(m.Key)
		o := offer{mediaType: t, media: media, schema: media.Get("schema")}
		if o.schema.Value == nil && restcall.IsLines(t.bare) {
			o.schema = media.Get("itemSchema")
		}
		out = append(out, o)
	}
	judge(out, view)
	return out
}

// judge finds out how each offer would be sent, and sorts them, the best first.
func judge(offers []offer, view *toolschema.Projection) {
	if len(offers) == 1 && (isJSON(offers[0].bare) || offers[0].bare == typeForm || offers[0].bare == typeMultipart) {
		offers[0].kind, _ = fieldsKind(offers[0].bare) // as nearly all are
		return
	}
	parts := slices.ContainsFunc(offers, func(o offer) bool { return strings.HasPrefix(o.bare, anyMultipart) })
	for i := range offers {
		o := &offers[i]
		if kind, is := fieldsKind(o.bare); is && kind != kindJSON {
			o.kind = kind
		} else {
			o.bytes = view.Bytes(orTrue(o.schema))
			o.kind = o.kindOf(view)
		}
		o.rank = o.rankOf(view)
		if parts && o.rank < rankMultipart && view.HasFiles(o.schema) {
			o.rank = rankNoFiles
		}
	}
	slices.SortStableFunc(offers, func(a, b offer) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), newerFirst(a.full, b.full))
	})
}

// unsent lists the media types that a body could have too.
func (d *document) unsent(types []mediaType, sent toolplan.Body) {
	for _, t := range types {
		if t.full != sent.ContentType && !slices.Contains(sent.Types, t.full) && t.at.Value != nil {
			d.skips.addUsual(t.at, "a body may be sent as "+t.full+" too: it is sent as "+sent.ContentType)
		}
	}
}

// typesOf returns the media types of all offers but the one that is sent.
func typesOf(offers []offer) (out []mediaType) {
	for _, o := range offers[1:] {
		out = append(out, o.mediaType)
	}
	return out
}

// orTrue returns a schema, or one that admits anything.
func orTrue(schema toolschema.Node) toolschema.Node {
	if schema.Value == nil {
		schema.Value = true
	}
	return schema
}

func fieldsKind(bare string) (kind bodyKind, is bool) {
	switch {
	case isJSON(bare):
		return kindJSON, true
	case bare == typeForm:
		return kindForm, true
	case strings.HasPrefix(bare, anyMultipart):
		return kindMultipart, true
	}
	return 0, false
}

// kindOf says how a body is sent that is neither a form nor surely JSON.
func (o *offer) kindOf(view *toolschema.Projection) bodyKind {
	major, minor, _ := strings.Cut(o.bare, "/")
	switch {
	case isJSON(o.bare):
		return kindJSON
	case o.bytes.Only():
		return kindBytes
	case o.bare == "*/*" || o.bare == "application/*":
		switch {
		case o.bytes.Any || o.bytes.Said():
			return kindAnything
		case o.bare == "*/*" && view.Type(o.schema) == "string":
			return kindText
		}
		return kindJSON
	case o.bytes.Encoded || major == "text" || isText(o.bare):
		return kindText
	case minor == "*" || o.bytes.Any || o.bytes.Said() || isBinary(o.bare):
		return kindBytes
	}
	return kindText
}

// rankOf says how well an offer suits tools.
func (o *offer) rankOf(view *toolschema.Projection) int {
	isRange := strings.Contains(o.bare, "*")
	switch {
	case isProblem(o.bare):
		return rankProblem
	case o.kind == kindJSON && o.bytes.Only():
		return rankUnfit
	case o.kind == kindJSON && isRange:
		return rankJSONRange
	case o.kind == kindJSON:
		return o.rankOfJSON(view)
	case o.kind == kindForm:
		return rankForm
	case o.kind == kindMultipart && o.bare != typeMultipart:
		return rankMultipart + 1
	case o.kind == kindMultipart:
		return rankMultipart
	case o.kind == kindText:
		return rankText
	}
	return rankBytes
}

// rankOfJSON puts the patches that a schema does not describe last: a JSON patch is a list, and a
// merge patch is an object.
func (o *offer) rankOfJSON(view *toolschema.Projection) int {
	list := view.Type(o.schema) == "array"
	switch o.bare {
	case typeJSON:
		if o.full == typeJSON {
			return rankJSON
		}
	case "application/json-patch+json":
		if !list {
			return rankOtherJSON + 3
		}
	case "application/merge-patch+json":
		if list {
			return rankOtherJSON + 2
		}
	case "application/strategic-merge-patch+json":
		return rankOtherJSON + 2
	}
	return rankOtherJSON
}

// newerFirst orders media types by the alphabet, and of two that differ in numbers alone the one with
// the higher number first: a later version.
func newerFirst(a, b string) int {
	if x, y := nonDigits(a), nonDigits(b); x != y {
		return strings.Compare(a, b)
	}
	x, y := strings.FieldsFunc(a, notDigit), strings.FieldsFunc(b, notDigit)
	for i := range min(len(x), len(y)) {
		n, m := strings.TrimLeft(x[i], "0"), strings.TrimLeft(y[i], "0")
		if order := cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n)); order != 0 {
			return order
		}
	}
	return strings.Compare(a, b)
}

func notDigit(r rune) bool { return r < '0' || r > '9' }

// nonDigits returns a text with each number as one 0.
func nonDigits(text string) string {
	var out strings.Builder
	for i := range len(text) {
		switch {
		case notDigit(rune(text[i])):
			out.WriteByte(text[i])
		case i == 0 || notDigit(rune(text[i-1])):
			out.WriteByte('0')
		}
	}
	return out.String()
}

// choose returns the media type of a parameter's content that suits tools best, and its media type object, whose
// Value is nil if there is none. It has one in a document that is right.
func (d *document) choose(at toolschema.Node) (kind string, media toolschema.Node) {
	content, _ := at.Value.(tree.Object)
	for _, m := range content[:min(len(content), maxMedia)] {
		t, _, ok := mediaTypeOf(m.Key)
		if n, err := d.Follow(at.Get(m.Key)); err == nil && ok &&
			(media.Value == nil || isJSON(t.bare) && !isJSON(kind)) {
			if _, is := n.Value.(tree.Object); is {
				kind, media = t.bare, n
			}
		}
	}
	if kind == "*/*" || kind == "application/*" {
		kind = typeJSON
	}
	return kind, media
}
