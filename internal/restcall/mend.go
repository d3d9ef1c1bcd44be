package restcall

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/keystile/keystile/internal/rawjson"
)

// Models, and some clients, send lists, objects, numbers and booleans as texts of JSON. Where a schema
// admits no text, nothing else can be meant by one.

// textDecoder reads values from texts.
type textDecoder struct{ left int } // schemas that may still be visited

// maxDecoded bounds the work for one argument.
const maxDecoded = 200_000

// decodedText returns what is meant by a value that a schema does not admit; ok is false if that is not admitted
// either.
func (s *schema) decodedText(raw json.RawMessage) (out json.RawMessage, ok bool) {
	m := textDecoder{maxDecoded}
	out = m.value(s, raw, 0)
	if bytes.Equal(out, raw) || rawjson.Check(out, rawjson.Limits{Depth: maxDepth, Once: true}) != nil {
		return nil, false
	}
	return out, s.admits(out)
}

// value reads the texts in a value, at any level.
func (m *textDecoder) value(s *schema, raw json.RawMessage, depth int) json.RawMessage {
	if m.left--; s == nil || depth > maxSchema || m.left < 0 {
		return raw
	}
	if raw[0] == '"' && !s.admitsText() {
		raw = inText(raw)
	}
	switch raw[0] {
	case '[':
		raw = m.list(s, raw, depth)
	case '{':
		raw = m.object(s, raw, depth)
	}
	for _, part := range s.allOf {
		raw = m.value(part, raw, depth+1)
	}
	for _, part := range s.anyOf {
		if v := m.value(part, raw, depth+1); part.admits(v) {
			return v
		}
	}
	return raw
}

// inText returns the JSON that a text holds, unless that is a text too, else the text.
func inText(raw json.RawMessage) json.RawMessage {
	inner := bytes.TrimSpace(rawjson.Unquote(raw))
	if len(inner) == 0 || inner[0] == '"' || rawjson.Check(inner, rawjson.Limits{Depth: maxDepth, Once: true}) != nil {
		return raw
	}
	return inner
}

func (m *textDecoder) list(s *schema, raw json.RawMessage, depth int) json.RawMessage {
	if s.items == nil {
		return raw
	}
	out := append(make([]byte, 0, len(raw)), '[')
	for e := range rawjson.Elements(raw) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, m.value(s.items, e, depth+1)...)
	}
	return append(out, ']')
}

func (m *textDecoder) object(s *schema, raw json.RawMessage, depth int) json.RawMessage {
	if len(s.properties) == 0 {
		return raw
	}
	out := append(make([]byte, 0, len(raw)), '{')
	for text, v := range rawjson.Members(raw) {
		key := append(rawjson.AppendString(nil, string(text)), ':')
		out = appendMember(out, key, m.value(s.properties[string(text)], v, depth+1))
	}
	return append(out, '}')
}

// admitsText reports whether a schema admits any text.
func (s *schema) admitsText() bool {
	switch {
	case s == nil || s.file:
		return true
	case s.nothing || len(s.types) > 0 && !slices.Contains(s.types, "string"):
		return false
	case s.enum != nil && !s.enumOfText():
		return false
	case len(s.anyOf) > 0 && !slices.ContainsFunc(s.anyOf, (*schema).admitsText):
		return false
	}
	return !slices.ContainsFunc(s.allOf, func(part *schema) bool { return !part.admitsText() })
}

func (s *schema) enumOfText() bool {
	for value := range s.enum {
		if value[0] == '"' {
			return true
		}
	}
	return false
}
