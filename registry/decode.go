package registry

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/registry/internal/fields"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// readRequest reads the body of a registration. Fields have exactly their names, each
// once, in any order; null is the same as nothing. Unknown ones are listed and left alone.
func readRequest(w http.ResponseWriter, r *http.Request) (q Request, err error) {
	sent, err := fields.Read(w, r, fields.MaxRequest)
	if err != nil {
		return q, err
	}
	return q, q.fill(sent)
}

// maxUnknown bounds how many unknown fields are listed.
const maxUnknown = 10

// fill sets what was sent, and says everything that has the wrong form at once.
func (q *Request) fill(sent map[string]json.RawMessage) error {
	var wrong []string
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		raw := sent[name]
		if string(raw) == "null" {
			continue
		}
		known, must := q.set(name, raw)
		switch {
		case must != "":
			wrong = append(wrong, name+" must be "+must)
		case !known && len(q.unknownFields) < maxUnknown:
			q.unknownFields = append(q.unknownFields, toolplan.Skip{Pointer: toolschema.Text("/" + escapePointer.Replace(name)),
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
		"identity": &q.Identity.Kind, "identity_subject": &q.Identity.Subject, "identity_jti": &q.Identity.JTI,
	}
	secrets := map[string]*storage.Secret{"auth_secret": &q.AuthSecret, "webhook_secret": &q.WebhookSecret}
	switches := map[string]func(bool){
		"publish":      func(on bool) { q.Private = !on },
		"pins":         func(on bool) { q.PinsOff = !on },
		"resolve_refs": func(on bool) { q.ResolveRefs = &on },
		"lint":         func(on bool) { q.Advise = on },
		"keep_tools":   func(on bool) { q.KeepTools = on },
	}
	documents := map[string]*json.RawMessage{"openapi": &q.OpenAPI, "tools_static": &q.StaticTools}
	var text string
	var on, ok bool
	switch {
	case documents[name] != nil:
		*documents[name] = raw
	case texts[name] != nil:
		if text, ok = fields.Text(raw); !ok {
			return true, "a string of UTF-8 text"
		}
		*texts[name] = text
	case secrets[name] != nil:
		if text, ok = fields.Text(raw); !ok {
			return true, "a string of UTF-8 text"
		}
		*secrets[name] = storage.NewSecret(text)
	case name == "headers":
		headers, ok := fields.Headers(raw, false)
		if !ok {
			return true, fields.HeadersRule
		}
		q.Headers = make(map[string]storage.Secret, len(headers))
		for name, value := range headers {
			q.Headers[name] = *value
		}
	case name == "timeout":
		if json.Unmarshal(raw, &q.Timeout) != nil || !fields.IsTimeout(q.Timeout) {
			return true, fields.TimeoutRule
		}
	case switches[name] != nil:
		if name == "pins" { // decision 92 writes it as YAML does
			raw = fields.OnOff(raw)
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

// escapePointer writes a key as it stands in a JSON pointer (RFC 6901).
var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")
