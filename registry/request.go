package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/storage"
)

// Request is a registration (spec 4.8): quick with Member and UpstreamURL alone, standard
// with OpenAPI, full with credentials, webhook and Publish; or StaticTools by hand.
type Request struct {
	Member        string
	Label         string
	Description   string
	UpstreamURL   string
	AuthType      string // none or "", bearer, basic (user:password) or api_key
	AuthName      string // of api_key: the header's or parameter's name
	AuthIn        string // of api_key: header or query
	AuthSecret    storage.Secret
	WebhookURL    string
	WebhookSecret storage.Secret
	Private       bool            // stored, not on the bus (publish: false)
	OpenAPI       json.RawMessage // an object, or a string that holds one; wins over StaticTools
	StaticTools   json.RawMessage
	ResolveRefs   *bool // nil: as the server is set
	Lint          bool  // of a preview: advice on the document

	unknown []storage.Skip // fields that were sent and mean nothing here
}

// maxRequest is a document of the largest size as a JSON string, where every quote is
// escaped, and all else.
const maxRequest = 2*(16<<20) + 1<<20

// readRequest reads the body of a registration. Fields have exactly their names, whatever
// their order; unknown ones are listed and left alone.
func readRequest(w http.ResponseWriter, r *http.Request) (q Request, err error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if big := (*http.MaxBytesError)(nil); errors.As(err, &big) {
		return q, limitf("the request has more than %d bytes", maxRequest)
	}
	if err != nil {
		return q, badBody.Because(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &fields); err != nil || fields == nil {
		return q, badField("the body is not one JSON object")
	}
	return q, q.fill(fields)
}

func (q *Request) fill(fields map[string]json.RawMessage) error {
	texts := map[string]*string{
		"member": &q.Member, "label": &q.Label, "description": &q.Description, "upstream_url": &q.UpstreamURL,
		"auth_type": &q.AuthType, "auth_name": &q.AuthName, "auth_in": &q.AuthIn, "webhook_url": &q.WebhookURL,
	}
	secrets := map[string]*storage.Secret{"auth_secret": &q.AuthSecret, "webhook_secret": &q.WebhookSecret}
	var publish *bool
	switches := map[string]func(bool){
		"publish":      func(on bool) { publish = &on },
		"resolve_refs": func(on bool) { q.ResolveRefs = &on },
		"lint":         func(on bool) { q.Lint = on },
	}
	for name, raw := range fields {
		if string(raw) == "null" {
			continue
		}
		switch {
		case texts[name] != nil:
			if json.Unmarshal(raw, texts[name]) != nil {
				return badField(name + " is a string")
			}
		case secrets[name] != nil:
			var text string
			if json.Unmarshal(raw, &text) != nil {
				return badField(name + " is a string")
			}
			*secrets[name] = storage.NewSecret(text)
		case switches[name] != nil:
			var on bool
			if json.Unmarshal(raw, &on) != nil {
				return badField(name + " is true or false")
			}
			switches[name](on)
		case name == "openapi":
			q.OpenAPI = raw
		case name == "tools_static":
			q.StaticTools = raw
		default:
			q.unknown = append(q.unknown, storage.Skip{Pointer: "/" + toolschema.Text(name), Reason: "a field that is not known here"})
		}
	}
	slices.SortFunc(q.unknown, func(a, b storage.Skip) int { return strings.Compare(a.Pointer, b.Pointer) })
	q.unknown = q.unknown[:min(len(q.unknown), 10)]
	q.Private = publish != nil && !*publish
	return nil
}

// Lengths of what people write about a capability, in bytes.
const (
	maxLabel       = 200
	maxDescription = 4000
	maxSecret      = 8 << 10
)

// check says what is wrong with everything but the tools.
func (q Request) check() error {
	if err := checkMember(q.Member); err != nil {
		return err
	}
	if q.UpstreamURL == "" {
		return badUpstream("upstream_url is missing: say where calls go")
	}
	if _, err := netguard.CheckURL(q.UpstreamURL); err != nil {
		return badUpstream("upstream_url: " + err.Error())
	}
	upstream := restcall.Upstream{BaseURL: q.UpstreamURL, AuthType: q.AuthType, AuthName: q.AuthName, AuthIn: q.AuthIn, Secret: q.AuthSecret}
	if err := upstream.Check(); err != nil {
		return badField(err.Error())
	}
	for _, text := range []struct {
		name, value string
		most        int
	}{{"label", q.Label, maxLabel}, {"description", q.Description, maxDescription}, {"auth_secret", q.AuthSecret.Reveal(), maxSecret}, {"webhook_secret", q.WebhookSecret.Reveal(), maxSecret}} {
		if len(text.value) > text.most {
			return badField(fmt.Sprintf("%s has more than %d bytes", text.name, text.most))
		}
	}
	if q.WebhookURL != "" {
		if _, err := netguard.CheckURL(q.WebhookURL); err != nil {
			return badField("webhook_url: " + err.Error())
		}
	}
	if q.WebhookURL == "" && !q.WebhookSecret.IsZero() {
		return badField("webhook_secret is there without webhook_url")
	}
	return nil
}

// kind is the mode of a registration.
func (q Request) kind() string {
	switch {
	case q.OpenAPI != nil:
		return storage.CapabilityREST
	case q.StaticTools != nil:
		return storage.CapabilityStatic
	}
	return storage.CapabilityMCP
}

// capability is what is stored of a request, beside its tools.
func (q Request) capability(owner string, skipped []storage.Skip) storage.Capability {
	return storage.Capability{
		Member: q.Member, Label: toolschema.Text(q.Label), Description: toolschema.Text(q.Description), Kind: q.kind(),
		UpstreamURL: q.UpstreamURL, AuthType: q.AuthType, AuthName: q.AuthName, AuthIn: q.AuthIn, AuthSecret: q.AuthSecret,
		WebhookURL: q.WebhookURL, WebhookSecret: q.WebhookSecret, Publish: !q.Private, Owner: owner, Skipped: skipped,
	}
}
