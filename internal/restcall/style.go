package restcall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/storage/toolplan"
)

// styles are the OpenAPI 3 styles by place; the first of a place is its default.
var styles = map[string][]string{
	"path":   {"simple", "label", "matrix"},
	"query":  {"form", "spaceDelimited", "pipeDelimited", "deepObject"},
	"header": {"simple"},
	"cookie": {"form"},

	"querystring": {},
}

// separators lists those of the styles that put a list into one parameter, in URLs and forms;
// rawSeparators in what is not encoded.
var (
	separators = map[string]string{"": ",", "form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C",
		"tabDelimited": "%09"}
	rawSeparators = map[string]string{"form": ",", "spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}
)

// value is an argument on its way into a URL, a header or a form: one text, a list of
// texts, or the members of an object, of which names are the names.
type value struct {
	single bool
	texts  []string
	names  []string // nil: not an object
}

// valueOf reads an argument. Members that are null are left out.
func valueOf(raw json.RawMessage, asJSON bool) value {
	var v value
	switch {
	case asJSON || raw[0] != '[' && raw[0] != '{':
		return value{single: true, texts: []string{textOf(raw, asJSON)}}
	case raw[0] == '[':
		for e := range rawjson.Elements(raw) {
			if !isNull(e) {
				v.texts = append(v.texts, textOf(e, false))
			}
		}
	default:
		v.names = []string{}
		for name, e := range rawjson.Members(raw) {
			if !isNull(e) {
				v.names, v.texts = append(v.names, string(name)), append(v.texts, textOf(e, false))
			}
		}
	}
	return v
}

// textOf writes a string as its text, a number with its digits, and the rest as JSON.
func textOf(raw json.RawMessage, asJSON bool) string {
	switch {
	case raw[0] == '"' && !asJSON:
		return string(rawjson.Unquote(raw))
	case raw[0] != '[' && raw[0] != '{':
		return string(raw)
	}
	var out bytes.Buffer
	json.Compact(&out, raw) // it is valid; no line breaks remain
	return out.String()
}

// join writes a value as one text. Members of an object are name=text if pair is set, and
// names and texts in turn otherwise.
func (v value) join(dst []byte, separator string, pair bool, esc escape) []byte {
	for i, text := range v.texts {
		if i > 0 {
			dst = append(dst, separator...)
		}
		if v.names != nil {
			dst = esc(dst, v.names[i])
			if pair {
				dst = append(dst, '=')
			} else {
				dst = append(dst, separator...)
			}
		}
		dst = esc(dst, text)
	}
	return dst
}

// Why a value may not be joined; each reads on after "must".
const (
	faultPair     = "have no member with = in its name: it is sent as name=text"
	faultBrackets = "have no member with [ or ] in its name: it is sent as name[member]"
)

// joinFault says why a value may not be joined into one text, "" if it may: its reader could not tell a
// separator from a part of a member, and would find another member, whose value has not passed the
// argument's schema. Where a separator is written otherwise within a part, as %2C for a comma, it can. raw says
// that parts are not encoded.
func (v value) joinFault(separator string, pair, raw bool) string {
	sign := unescape(separator)
	encoded := sign != separator // as it is within a part
	parts := v.names
	if v.names != nil || encoded {
		parts = slices.Concat(v.names, v.texts)
	}
	switch {
	case v.single || len(v.texts) == 0:
	case (raw || encoded || sign == ".") && slices.ContainsFunc(parts,
		func(text string) bool { return strings.Contains(text, sign) }):
		return fmt.Sprintf("have no %q within its parts: it is sent with %q between them", sign, sign)
	case pair && slices.ContainsFunc(v.names, func(name string) bool { return strings.Contains(name, "=") }):
		return faultPair
	}
	return ""
}

// inPathFault is joinFault for a path.
func (v value) inPathFault(p toolplan.Param) string {
	switch {
	case p.Style == "label" && p.Explode:
		return v.joinFault(".", true, false)
	case p.Style == "matrix" && p.Explode:
		return ""
	}
	return v.joinFault(",", p.Explode, false)
}

// appendPath writes a value into a segment of the path.
func appendPath(dst []byte, p toolplan.Param, v value) []byte {
	esc := escapePath
	if p.AllowReserved {
		esc = escapeSlashed
	}
	switch {
	case p.Style == "label" && p.Explode:
		return v.join(append(dst, '.'), ".", true, esc)
	case p.Style == "label":
		return v.join(append(dst, '.'), ",", false, esc)
	case p.Style == "matrix" && p.Explode && !v.single:
		for i, text := range v.texts {
			name := p.Name
			if v.names != nil {
				name = v.names[i]
			}
			dst = esc(append(esc(append(dst, ';'), name), '='), text)
		}
		return dst
	case p.Style == "matrix":
		return v.join(append(escapePath(append(dst, ';'), p.Name), '='), ",", false, esc)
	}
	return v.join(dst, ",", p.Explode, esc)
}

// appendQuery writes an argument into the query, or says why it may not. An empty list or object writes nothing.
func appendQuery(q *query, p toolplan.Param, raw json.RawMessage) (fault string) {
	if p.Style == "deepObject" && !p.JSON {
		d := deep{name: []byte(p.Name), add: func(name []byte, text string) bool {
			q.add(string(name), text)
			return len(q.text) <= maxTarget && len(*q.c) < maxComplaints
		}}
		d.write(raw)
		return d.fault
	}
	v := valueOf(raw, p.JSON)
	switch {
	case len(v.texts) == 0:
	case v.single:
		q.add(p.Name, v.texts[0])
	case p.Explode:
		for i, text := range v.texts {
			name := p.Name
			if v.names != nil {
				name = v.names[i]
			}
			if q.add(name, text); len(q.text) > maxTarget || len(*q.c) >= maxComplaints {
				return "" // which is refused
			}
		}
	case q.open(p.Name):
		q.text = v.join(q.text, separators[p.Style], false, q.escape)
		return v.joinFault(separators[p.Style], false, false)
	}
	return ""
}
