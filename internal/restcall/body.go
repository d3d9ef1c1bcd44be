package restcall

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/storage/toolplan"
)

// body is the compiled plan of a request body.
type body struct {
	contentType string
	kind        bodyKind
	required    bool
	whole       int      // the argument that is all of it; -1: fields
	file        bool     // what is all of it, or the members of whole and more, is bytes
	orText      bool     // unless it is neither a data URL nor an object of a file
	types       []string // of bytes that are all of it
	fields      []field
	more        int   // the argument whose members are beside the fields; -1: none
	names       names // of JSON; those of a form are the plan's
}

type bodyKind int

const (
	bodyText bodyKind = iota // one text, or bytes written as base64
	bodyJSON
	bodyForm
	bodyMultipart
)

func compileBody(b toolplan.Body, p *Plan) (*body, error) {
	out := &body{required: b.Required, whole: -1, more: -1, file: b.File, orText: b.OrText}
	if err := out.readType(b.ContentType); err != nil {
		return nil, err
	}
	if err := out.readTypes(b.Types); err != nil {
		return nil, err
	}
	if b.Whole != "" && (len(b.Fields) > 0 || b.More != "") {
		return nil, errors.New("the body has both one argument that is all of it and fields")
	}
	if at, ok := p.index[b.Whole]; ok && b.Whole != "" {
		out.whole = at
		out.file = out.file || out.kind == bodyText && p.args[at].schema.binary // of a plan that does not say it
		p.args[at].required = p.args[at].required || b.Required
		p.args[at].data = out.kind == bodyJSON && p.args[at].required
		if out.file && out.kind != bodyMultipart {
			p.args[at].schema.takeFiles(0)
		}
		return out, nil
	}
	if out.kind == bodyText && (len(b.Fields) > 0 || b.More != "") {
		return nil, fmt.Errorf("a body of type %s cannot be made of fields", out.contentType)
	}
	for _, f := range b.Fields {
		if err := out.addField(f, p); err != nil {
			return nil, err
		}
	}
	if at, ok := p.index[b.More]; ok && b.More != "" {
		out.more = at
	}
	return out, nil
}

// readTypes reads the types of bytes that are all of a body.
func (b *body) readTypes(types []string) error {
	for _, t := range types {
		one, err := mediaTypes(t)
		if err != nil || len(b.types) == MaxMediaTypes {
			return fmt.Errorf("the content type %q of the body cannot be read", clip(t, 64))
		}
		b.types = append(b.types, one...)
	}
	if b.types == nil {
		b.types = []string{b.contentType}
	}
	return nil
}

func (b *body) readType(contentType string) error {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil || !headerValue(contentType) {
		return fmt.Errorf("the content type %q of the body cannot be read", clip(contentType, 64))
	}
	b.contentType = contentType
	switch {
	case isJSON(media):
		b.kind = bodyJSON
	case media == "application/x-www-form-urlencoded":
		b.kind = bodyForm
	case strings.HasPrefix(media, "multipart/"):
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
func (b *body) write(args arguments, p *Plan, in *naming) (text []byte, contentType string) {
	c := in.c
	if b.whole >= 0 {
		if !args.given(b.whole, p) {
			return nil, ""
		}
		return b.writeWhole(args[b.whole], p.args[b.whole], in)
	}
	given := slices.ContainsFunc(b.fields, func(f field) bool { return args.given(f.arg, p) })
	more := b.more >= 0 && args.given(b.more, p)
	if !given && !more && !b.required {
		return nil, ""
	}
	for _, f := range b.fields {
		if a := p.args[f.arg]; f.Required && !a.required && !args.given(f.arg, p) {
			c.add("argument %q is required when any part of the body is given", a.name)
		}
		f.checkHeaders(args, p, c)
	}
	if more && args[b.more][0] != '{' {
		c.add("argument %q must be an object: its members become members of the body", p.args[b.more].name)
		return nil, ""
	}
	if b.kind == bodyJSON {
		return b.writeJSON(args, more, p, c), b.contentType
	}
	s := b.formWriter(in)
	for i := range b.fields {
		if f := &b.fields[i]; args.given(f.arg, p) {
			s.field(f, args, p)
		}
	}
	if more {
		s.members(args[b.more], b.more, b.members())
	}
	return s.end(b.contentType)
}

func (b *body) writeJSON(args arguments, more bool, p *Plan, c *complaints) []byte {
	text := append(make([]byte, 0, 64), '{')
	for _, f := range b.fields {
		if raw := args[f.arg]; raw != nil {
			text = appendMember(text, f.key, raw)
		}
	}
	if more {
		in := b.names.naming(p, c)
		for name, v := range rawjson.Members(args[b.more]) {
			if !in.member(b.more, string(name)) && len(*c) >= maxComplaints {
				return nil
			}
			key, _ := json.Marshal(string(name))
			text = appendMember(text, append(key, ':'), v)
		}
	}
	return append(text, '}')
}

func appendMember(object, key, value []byte) []byte {
	if len(object) > 1 {
		object = append(object, ',')
	}
	return append(append(object, key...), value...)
}

// writeWhole writes the argument that is all of the body.
func (b *body) writeWhole(raw json.RawMessage, a argument, in *naming) (text []byte, contentType string) {
	c := in.c
	switch {
	case b.kind != bodyMultipart && b.file && (!b.orText || isFile(raw)):
		f := readFile(a.name, raw, c)
		return f.data, wholeType(a.name, b.types, &f, c)
	case b.kind == bodyJSON && b.orText && raw[0] == '"' && admits(b.types, "text/plain"):
		return []byte(textOf(raw, false)), "text/plain"
	case b.kind == bodyJSON:
		return slices.Clone(raw), b.contentType // net/http may read it when the call is over
	case b.kind == bodyText && raw[0] == '[' && IsLines(bareType(b.contentType)):
		return lines(raw, bareType(b.contentType)), b.contentType
	case b.kind == bodyText:
		return []byte(textOf(raw, false)), b.contentType
	case raw[0] != '{':
		c.add("argument %q must be an object: its members become the fields of a form", a.name)
		return nil, ""
	}
	s := b.formWriter(in)
	s.members(raw, b.whole, b.members())
	return s.end(b.contentType)
}

// members returns how the members of an argument are written, about which the document says nothing.
func (b *body) members() *field {
	return &field{Field: toolplan.Field{File: b.file && b.kind == bodyMultipart, OrText: b.orText}}
}
