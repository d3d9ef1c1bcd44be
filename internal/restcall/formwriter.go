package restcall

import (
	"bytes"
	"encoding/json"
	"mime"
	"mime/multipart"
	"net/url"

	"github.com/keystile/keystile/internal/rawjson"
)

// maxBody bounds a form, in bytes: one short argument may be written a million times.
const maxBody = 16 << 20

// formWriter is a form that is being written.
type formWriter struct {
	*naming
	form []byte
	text bytes.Buffer // of a multipart
	part *multipart.Writer
	over bool // it is longer than maxBody; nothing more is written
}

func (b *body) formWriter(in *naming) *formWriter {
	s := &formWriter{naming: in}
	if b.kind == bodyMultipart {
		s.part = multipart.NewWriter(&s.text)
	}
	return s
}

// end returns the form and its type.
func (s *formWriter) end(contentType string) ([]byte, string) {
	if s.part == nil {
		return s.form, contentType
	}
	s.part.Close()
	media, params, _ := mime.ParseMediaType(contentType) // it was read when the plan was made
	params["boundary"] = s.part.Boundary()
	return s.text.Bytes(), mime.FormatMediaType(media, params)
}

// more reports whether anything may follow.
func (s *formWriter) more() bool {
	if len(s.form)+s.text.Len() > maxBody && !s.over {
		s.over = true
		s.c.add("the arguments make a body of more than %d bytes: shorten them", maxBody)
	}
	return !s.over && len(*s.c) < maxComplaints
}

// item is one name and value of a form.
type item struct {
	*field
	args   arguments
	plan   *Plan
	arg    string // whose value it is
	name   []byte
	escape escape // how the text is written; nil: as any other
}

// field writes an argument as its document asks for.
func (s *formWriter) field(f *field, args arguments, p *Plan) {
	raw := args[f.arg]
	i := item{field: f, args: args, plan: p, arg: f.Arg, name: []byte(f.Name)}
	if f.File || f.Style == "" {
		s.each(i, raw)
		return
	}
	if f.AllowReserved {
		i.escape = escapeFormReserved
	}
	s.styled(i, raw)
}

// members writes the members of an object, each in the same way.
func (s *formWriter) members(raw json.RawMessage, from int, as *field) {
	arg := s.plan.args[from].name
	for text, v := range rawjson.Members(raw) {
		name := string(text)
		switch {
		case s.part != nil && !headerValue(name):
			s.c.add("argument %q has a member with control characters in its name", arg)
		case s.member(from, name) && !isNull(v):
			s.each(item{field: as, arg: arg, name: text}, v)
		}
		if !s.more() {
			return
		}
	}
}

// each writes one entry of a plain value or an object, and one for each element of a list.
func (s *formWriter) each(i item, raw json.RawMessage) {
	if i.File && raw[0] == '"' {
		raw = fileInText(raw)
	}
	if raw[0] != '[' {
		s.value(i, raw)
		return
	}
	for inner := range rawjson.Elements(raw) {
		if !isNull(inner) {
			s.value(i, inner)
		}
		if !s.more() {
			return
		}
	}
}

// value writes one entry by its type.
func (s *formWriter) value(i item, raw json.RawMessage) {
	if i.File && s.part != nil && (!i.OrText || isFile(raw)) {
		f := readFile(i.arg, raw, s.c)
		s.writePart(i, f.nameFor(string(i.name), fileType(i.arg, i.types, &f, s.c)), f.contentType, f.data)
		return
	}
	kind := i.valueType(raw)
	text := written(raw, kind)
	if s.part != nil {
		s.writePart(i, "", kind, []byte(text))
		return
	}
	s.pair(i, text)
}

// pair writes a name and a text of a form that is URL-encoded.
func (s *formWriter) pair(i item, text string) {
	s.open(i.name)
	if i.escape == nil {
		s.form = append(s.form, url.QueryEscape(text)...)
		return
	}
	s.form = i.escape(s.form, text)
}

func (s *formWriter) open(name []byte) {
	if len(s.form) > 0 {
		s.form = append(s.form, '&')
	}
	s.form = append(append(s.form, url.QueryEscape(string(name))...), '=')
}

// styled writes a value by the styles of OpenAPI.
func (s *formWriter) styled(i item, raw json.RawMessage) {
	if i.Style == "deepObject" {
		d := deep{name: i.name, add: func(name []byte, text string) bool {
			at := i
			at.name = name
			if string(name) == i.Name || s.member(i.field.arg, string(name)) {
				s.plain(at, text)
			}
			return s.more()
		}}
		if d.write(raw); d.fault != "" {
			s.c.add("argument %q must %s", i.arg, d.fault)
		}
		return
	}
	v := valueOf(raw, false)
	fault := ""
	if !i.Explode {
		fault = v.joinFault(separators[i.Style], false, s.part != nil)
	}
	switch {
	case fault != "":
		s.c.add("argument %q must %s", i.arg, fault)
	case len(v.texts) == 0:
	case v.single:
		s.plain(i, v.texts[0])
	case i.Explode:
		for n, text := range v.texts {
			at := i
			if v.names != nil {
				at.name = []byte(v.names[n])
			}
			if v.names == nil || s.member(i.field.arg, v.names[n]) {
				s.plain(at, text)
			}
			if !s.more() {
				return
			}
		}
	case s.part != nil:
		s.writePart(i, "", "", v.join(nil, rawSeparators[i.Style], false, escapeNothing))
	default:
		esc := i.escape
		if esc == nil {
			esc = escapeForm
		}
		s.open(i.name)
		s.form = v.join(s.form, separators[i.Style], false, esc)
	}
}

// plain writes a text that no type applies to: a style says what it is.
func (s *formWriter) plain(i item, text string) {
	if s.part == nil {
		s.pair(i, text)
		return
	}
	if !headerValue(string(i.name)) {
		s.c.add("argument %q has a member with control characters in its name", i.arg)
		return
	}
	s.writePart(i, "", "", []byte(text))
}
