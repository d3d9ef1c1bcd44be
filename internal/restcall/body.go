package restcall

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/storage"
)

// body is how a request's body is written.
type body struct {
	contentType string
	kind        bodyKind
	required    bool
	whole       int // the argument that is all of it; -1: fields
	base64      bool
	fields      []field
}

type bodyKind int

const (
	bodyText bodyKind = iota // one text, or bytes written as base64
	bodyJSON
	bodyForm
	bodyMultipart
)

type field struct {
	storage.Field
	arg int
	key []byte // the name as JSON, and a colon
}

func compileBody(b storage.Body, p *Plan) (*body, error) {
	out := &body{required: b.Required, whole: -1}
	if err := out.readType(b.ContentType); err != nil {
		return nil, err
	}
	if b.Whole != "" && len(b.Fields) > 0 {
		return nil, errors.New("the body has both one argument that is all of it and fields")
	}
	if at, ok := p.index[b.Whole]; ok && b.Whole != "" {
		out.whole = at
		out.base64 = out.kind == bodyText && p.args[at].schema.binary
		p.args[at].required = p.args[at].required || b.Required
		p.args[at].data = out.kind == bodyJSON && p.args[at].required
		return out, nil
	}
	if out.kind == bodyText && len(b.Fields) > 0 {
		return nil, fmt.Errorf("a body of type %s can not be made of fields", out.contentType)
	}
	for _, f := range b.Fields {
		if !headerValue(f.Name) {
			return nil, fmt.Errorf("the body field of %q has control characters in its name", f.Arg)
		}
		at, ok := p.index[f.Arg]
		if !ok {
			continue // bind complains
		}
		p.args[at].data = out.kind == bodyJSON
		key, _ := json.Marshal(f.Name)
		out.fields = append(out.fields, field{f, at, append(key, ':')})
	}
	return out, nil
}

func (b *body) readType(contentType string) error {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || !headerValue(contentType) {
		return fmt.Errorf("the content type %q of the body can not be read", clip(contentType, 64))
	}
	b.contentType = contentType
	switch {
	case isJSON(media):
		b.kind = bodyJSON
	case media == "application/x-www-form-urlencoded":
		b.kind = bodyForm
	case media == "multipart/form-data":
		b.kind = bodyMultipart
	}
	if strings.Contains(media, "*") { // a range of types, of which one is sent
		b.kind, b.contentType = bodyJSON, "application/json"
	}
	return nil
}

func isJSON(media string) bool {
	return media == "application/json" || media == "text/json" || strings.HasSuffix(media, "+json")
}

// write returns the body and its Content-Type, or neither if the arguments give none.
func (b *body) write(args arguments, p *Plan, c *complaints) (text []byte, contentType string) {
	if b.whole >= 0 {
		if !args.given(b.whole, p) {
			return nil, ""
		}
		return b.writeWhole(args[b.whole], p.args[b.whole], c)
	}
	given := slices.ContainsFunc(b.fields, func(f field) bool { return args.given(f.arg, p) })
	if !given && !b.required {
		return nil, ""
	}
	for _, f := range b.fields {
		if a := p.args[f.arg]; f.Required && !a.required && !args.given(f.arg, p) {
			c.add("argument %q is required when any part of the body is given", a.name)
		}
	}
	if b.kind == bodyJSON {
		text = append(text, '{')
		for _, f := range b.fields {
			if raw := args[f.arg]; raw != nil {
				if len(text) > 1 {
					text = append(text, ',')
				}
				text = append(append(text, f.key...), raw...)
			}
		}
		return append(text, '}'), b.contentType
	}
	var entries []entry
	for _, f := range b.fields {
		if args.given(f.arg, p) {
			entries = append(entries, entriesOf(entry{arg: f.Arg, name: f.Name, file: f.File}, args[f.arg])...)
		}
	}
	return b.writeEntries(entries, c)
}

// writeWhole writes the argument that is all of the body.
func (b *body) writeWhole(raw json.RawMessage, a argument, c *complaints) (text []byte, contentType string) {
	switch {
	case b.kind == bodyJSON:
		return slices.Clone(raw), b.contentType // net/http may read it when the call is over
	case b.kind == bodyText && b.base64:
		return decodeFile(a.name, textOf(raw, false), c), b.contentType
	case b.kind == bodyText:
		return []byte(textOf(raw, false)), b.contentType
	case raw[0] != '{':
		c.add("argument %q must be an object: its members become the fields of a form", a.name)
		return nil, ""
	}
	var entries []entry
	for text, v := range rawjson.Members(raw) {
		name := string(text)
		if !headerValue(name) {
			c.add("argument %q has a member with control characters in its name", a.name)
		}
		if !isNull(v) {
			entries = append(entries, entriesOf(entry{arg: a.name, name: name}, v)...)
		}
	}
	return b.writeEntries(entries, c)
}

// entry is one name and text of a form.
type entry struct {
	arg        string // that gave it
	name, text string
	file       bool // text is base64
	json       bool // text is JSON
}

// entriesOf makes one entry of a plain value and one for each element of a list.
func entriesOf(e entry, raw json.RawMessage) []entry {
	if raw[0] != '[' {
		e.text, e.json = textOf(raw, false), raw[0] == '{'
		return []entry{e}
	}
	var out []entry
	for inner := range rawjson.Elements(raw) {
		if !isNull(inner) {
			e.text, e.json = textOf(inner, false), inner[0] == '{' || inner[0] == '['
			out = append(out, e)
		}
	}
	return out
}

func (b *body) writeEntries(entries []entry, c *complaints) ([]byte, string) {
	if b.kind == bodyMultipart {
		return writeMultipart(entries, c)
	}
	var text []byte
	for i, e := range entries {
		if i > 0 {
			text = append(text, '&')
		}
		text = append(append(append(text, url.QueryEscape(e.name)...), '='), url.QueryEscape(e.text)...)
	}
	return text, b.contentType
}
