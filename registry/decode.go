package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/connections"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/internal/yamljson"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// maxRequest is a document of the largest size as a JSON string, where every quote is
// escaped, and all else.
const maxRequest = 2*(16<<20) + 1<<20

// readRequest reads the body of a registration. Fields have exactly their names, each
// once, in any order; null is the same as nothing. Unknown ones are listed and left alone.
func readRequest(w http.ResponseWriter, r *http.Request) (q Request, err error) {
	fields, err := readFields(w, r, maxRequest)
	if err != nil {
		return q, err
	}
	return q, q.fill(fields)
}

// readFields reads the fields of a body of at most so many bytes.
func readFields(w http.ResponseWriter, r *http.Request, most int64) (fields map[string]json.RawMessage, err error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if big := (*http.MaxBytesError)(nil); errors.As(err, &big) {
		return nil, limitf("the request has more than %d bytes: split the document", most)
	}
	if err != nil {
		return nil, unread(err)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if isYAML(r.Header.Get("Content-Type")) {
		if text, err = requestOfYAML(r.Context(), text); err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(text, &fields); err != nil || fields == nil {
		return nil, badField(`the body is not one JSON object: send {"member":...,"upstream_url":...}`)
	}
	if members(text) != len(fields) {
		return nil, badField("a field is there twice: send each once")
	}
	return fields, nil
}

// unread returns the refusal of a body that has not come to its end: too slow, or cut off.
func unread(err error) error {
	if errors.Is(err, connections.ErrSlow) {
		return err
	}
	return badField("the body ended too early: send it again")
}

// yamlTypes are the media types of YAML: RFC 9512, and what was used before it.
var yamlTypes = []string{"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/vnd.yaml"}

func isYAML(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && slices.Contains(yamlTypes, kind)
}

// requestDepth bounds the nesting of a registration in YAML. The document in it has
// limits of its own, which come later and say more.
const requestDepth = 1000

// requestOfYAML turns a registration in YAML into JSON. As with documents, what begins with a
// brace is JSON.
func requestOfYAML(ctx context.Context, text []byte) ([]byte, error) {
	if t := trimBlanks(text); len(t) > 0 && t[0] == '{' {
		return text, nil
	}
	out, err := yamljson.JSON(ctx, text, yamljson.Limits{Bytes: maxRequest, Depth: requestDepth, Nodes: maxValues})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, yamljson.ErrDepth), errors.Is(err, yamljson.ErrSize):
		return nil, limitf("the request is too large (%v): use fewer aliases, or split the document", err)
	case err != nil:
		return nil, badField("as YAML the body is wrong (" + toolschema.Text(err.Error()) + "): mend it there, or send JSON")
	}
	return out, nil
}

// members counts the members of an object that is valid JSON: readers that disagree on
// which of two counts are a way past a check.
func members(object []byte) (n int) {
	depth, quoted := 0, false
	for i := 0; i < len(object); i++ {
		switch c := object[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case c == ':' && depth == 1:
			n++
		}
	}
	return n
}

// maxUnknown bounds how many unknown fields are listed.
const maxUnknown = 10

// fill sets what was sent, and says everything that has the wrong form at once.
func (q *Request) fill(fields map[string]json.RawMessage) error {
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		raw := fields[name]
		if string(raw) == "null" {
			continue
		}
		known, must := q.set(name, raw)
		switch {
		case must != "":
			wrong = append(wrong, name+" must be "+must)
		case !known && len(q.unknownFields) < maxUnknown:
			q.unknownFields = append(q.unknownFields, toolplan.Skip{Pointer: toolschema.Text(pointer(name)),
				Reason: "a field that is not known here"})
		}
	}
	if wrong != nil {
		return badField(strings.Join(wrong, "; "))
	}
	return nil
}

// set sets one field. For an invalid value it returns what the value must be.
func (q *Request) set(name string, raw json.RawMessage) (known bool, must string) {
	texts := map[string]*string{
		"member": &q.Member, "label": &q.Label, "description": &q.Description, "upstream_url": &q.UpstreamURL,
		"auth_type": &q.AuthType, "auth_name": &q.AuthName, "auth_in": &q.AuthIn, "webhook_url": &q.WebhookURL,
	}
	secrets := map[string]*storage.Secret{"auth_secret": &q.AuthSecret, "webhook_secret": &q.WebhookSecret}
	switches := map[string]func(bool){
		"publish":      func(on bool) { q.Private = !on },
		"pins":         func(on bool) { q.PinsOff = !on },
		"resolve_refs": func(on bool) { q.ResolveRefs = &on },
		"lint":         func(on bool) { q.Lint = on },
		"keep_tools":   func(on bool) { q.KeepTools = on },
	}
	documents := map[string]*json.RawMessage{"openapi": &q.OpenAPI, "tools_static": &q.StaticTools}
	var text string
	var on, ok bool
	switch {
	case documents[name] != nil:
		*documents[name] = raw
	case texts[name] != nil:
		if text, ok = readText(raw); !ok {
			return true, "a string of UTF-8 text"
		}
		*texts[name] = text
	case secrets[name] != nil:
		if text, ok = readText(raw); !ok {
			return true, "a string of UTF-8 text"
		}
		*secrets[name] = storage.NewSecret(text)
	case name == "headers":
		headers, ok := readHeaders(raw, false)
		if !ok {
			return true, headersRule
		}
		q.Headers = make(map[string]storage.Secret, len(headers))
		for name, value := range headers {
			q.Headers[name] = *value
		}
	case name == "timeout":
		if json.Unmarshal(raw, &q.Timeout) != nil || !isTimeout(q.Timeout) {
			return true, timeoutRule
		}
	case switches[name] != nil:
		if name == "pins" { // decision 92 writes it as YAML does
			raw = onOff(raw)
		}
		if json.Unmarshal(raw, &on) != nil {
			return true, "true or false"
		}
		switches[name](on)
	default:
		return false, ""
	}
	return true, ""
}

// onOff returns "on" and "off" as true and false, and everything else as it is.
func onOff(raw json.RawMessage) json.RawMessage {
	switch string(raw) {
	case `"on"`:
		return json.RawMessage("true")
	case `"off"`:
		return json.RawMessage("false")
	}
	return raw
}

// readText reads a string. It refuses invalid UTF-8: replacing characters would change a secret.
func readText(raw json.RawMessage) (text string, ok bool) {
	err := json.Unmarshal(raw, &text)
	return text, err == nil && !strings.ContainsRune(text, utf8.RuneError)
}

// pointer is the JSON pointer of a path of keys (RFC 6901).
func pointer(path ...string) string {
	var b strings.Builder
	for _, key := range path {
		fmt.Fprintf(&b, "/%s", escapePointer.Replace(key))
	}
	return b.String()
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")
