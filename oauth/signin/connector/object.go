package connector

import (
	"bytes"
	"encoding/json"
	"net/url"

	"github.com/keystile/keystile/oauth/signin/connector/internal/legible"
)

// object is a JSON object of a provider. Names are case-sensitive. Reading a member that is
// missing, or has another type, gives the zero value.
type object map[string]json.RawMessage

// parseObject reads a body that is one object, with or without a byte order mark or
// JSONP around it. Characters that no JSON may hold, but providers send, are blanks or question marks: see package
// legible.
//
// Answers are parsed by their content: content types are wrong at three of the first four. A byte order mark,
// JSONP and numbers in quotes are accepted; an answer that should say who the user is and is no object, names
// no user, or names another one than the answer before it, is refused.
func parseObject(body []byte) (object, bool) {
	body = legible.Text(body)
	body = unwrap(bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))))
	if len(body) == 0 || body[0] != '{' { // null would do for Unmarshal
		return nil, false
	}
	var o object
	return o, json.Unmarshal(body, &o) == nil
}

// unwrap takes JSONP off: callback( {...} );
func unwrap(body []byte) []byte {
	name, inner, found := bytes.Cut(body, []byte("("))
	if !found || !isName(bytes.TrimSpace(name)) {
		return body
	}
	inner = bytes.TrimSpace(bytes.TrimSuffix(inner, []byte(";")))
	inner, found = bytes.CutSuffix(inner, []byte(")"))
	if !found {
		return body
	}
	return bytes.TrimSpace(inner)
}

// isName reports whether a text can be the name of a JSONP callback.
func isName(b []byte) bool {
	for _, c := range b {
		if c != '_' && c != '$' && c != '.' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return len(b) > 0
}

// parseForm reads a body such as access_token=...&expires_in=7776000, each name once.
func parseForm(body []byte) (object, bool) {
	values, err := url.ParseQuery(string(bytes.TrimSpace(body)))
	if err != nil {
		return nil, false
	}
	o := object{}
	for name, all := range values {
		if len(all) > 1 {
			return nil, false
		}
		o[name], _ = json.Marshal(all[0]) // a string always can be
	}
	return o, len(o) > 0
}

// text reads a string, or a whole number as its digits.
func (o object) text(name string) string {
	raw := o[name]
	switch {
	case len(raw) == 0:
		return ""
	case raw[0] == '"':
		var s string
		json.Unmarshal(raw, &s) // it is valid
		return s
	case (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') && !bytes.ContainsAny(raw, ".eE"):
		return string(raw)
	}
	return ""
}

func (o object) inner(name string) object {
	in, _ := parseObject(o[name])
	return in
}

// fault reads a member that holds an error code: "" if it is missing or says success. A value
// that cannot be read is an error.
func (o object) fault(name string) string {
	switch raw := string(o[name]); raw {
	case "", "null", `""`, "0", `"0"`:
		return ""
	}
	if code := oneLine(o.text(name)); code != "" {
		return code
	}
	return "unreadable"
}
