package registry

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/netguard"
	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/internal/toolschema"
	"github.com/keystile/keystile/registry/internal/fields"
	"github.com/keystile/keystile/registry/internal/names"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/lasthop"
	"github.com/keystile/keystile/storage/toolplan"
)

// Request holds a registration (protocol 4.8): quick with Member and UpstreamURL alone, standard
// with OpenAPI, full with credentials, webhook and Publish; or StaticTools by hand.
type Request struct {
	Member      string
	Label       string // at most 200 characters
	Description string // at most 1,024
	UpstreamURL string
	AuthType    string // none or "", bearer, basic (user:password) or api_key
	AuthName    string // of api_key: the header's or parameter's name
	AuthIn      string // of api_key: header or query
	AuthSecret  storage.Secret
	// more headers that each call carries, by name; they go to the upstream alone
	Headers       map[string]storage.Secret
	Identity      lasthop.Identity // what the upstream learns of callers; nothing, lasthop.Headers or lasthop.Signed
	WebhookURL    string
	WebhookSecret storage.Secret
	Timeout       int  // seconds that a call may take, 1 to 600; 0: 30
	Private       bool // stored, not on the bus (publish: false)
	// what the upstream lists later goes on the bus unaccepted (pins: false); of a quick registration
	PinsOff bool
	// input of openapi.Parse: an object, YAML, or a string that holds either; nil: none. It comes before StaticTools
	OpenAPI     json.RawMessage
	StaticTools json.RawMessage // nil: none
	ResolveRefs *bool           // nil: Config.ResolveRefs
	Advise      bool            // in a preview: also return advice on the document

	// KeepTools refuses the registration if it would remove tools of what is there, and names them; Registered.Removed
	// says afterwards what was removed without it.
	KeepTools bool

	// Owner is the new owner, a sub or group:NAME; only an admin may set it. "": the owner stays; a new
	// capability belongs to the actor.
	Owner string

	unknownFields []toolplan.Skip // unknown fields that were sent
	createOnly    bool            // it must not replace a capability: the sign-in is too old
	found         *storage.Place  // what is stored under its name, if that has been read
}

const (
	authNone   = "none"
	authAPIKey = "api_key"
)

// Limits of texts about a capability.
const (
	maxLabel       = 200     // characters
	maxDescription = 1024    // characters
	maxAuthName    = 200     // bytes
	maxSecret      = 8 << 10 // bytes
)

// check returns what is wrong with everything but the tools.
func (q Request) check() error {
	if wrong := names.Wrong(q.Member); wrong != "" {
		return badMember(wrong)
	}
	if q.UpstreamURL == "" {
		return badUpstream("upstream_url is missing: say where calls go")
	}
	if _, err := netguard.CheckURL(q.UpstreamURL); err != nil {
		return badUpstream("upstream_url: " + err.Error())
	}
	if err := q.checkLengths(); err != nil {
		return err
	}
	if q.Timeout != 0 && !fields.IsTimeout(q.Timeout) {
		return badField("timeout must be " + fields.TimeoutRule)
	}
	if err := q.upstream().Check(); err != nil {
		return badField(err.Error())
	}
	if err := q.Identity.Check(); err != nil {
		return badField(err.Error())
	}
	if q.Identity.Kind == lasthop.Bearer {
		return badField("identity bearer is for products of the configuration: with a caller's token the owner of an " +
			"upstream could call every other tool as that caller. Choose signed, which is good at this upstream alone")
	}
	if q.WebhookURL == "" && !q.WebhookSecret.IsZero() {
		return badField("webhook_secret is there without webhook_url: say where events go")
	}
	if q.WebhookURL == "" {
		return nil
	}
	if _, err := netguard.CheckURL(q.WebhookURL); err != nil {
		return badField("webhook_url: " + err.Error())
	}
	return nil
}

func (q Request) upstream() restcall.Upstream {
	return restcall.Upstream{BaseURL: q.UpstreamURL, AuthType: q.AuthType, AuthName: q.AuthName, AuthIn: q.AuthIn,
		Secret: q.AuthSecret, Headers: q.Headers}
}

func (q Request) checkLengths() error {
	for _, text := range []struct {
		name string
		long int
		most int
		unit string
	}{
		{"label", utf8.RuneCountInString(q.Label), maxLabel, "characters"},
		{"description", utf8.RuneCountInString(q.Description), maxDescription, "characters"},
		{"auth_name", len(q.AuthName), maxAuthName, "bytes"},
		{"auth_secret", len(q.AuthSecret.Reveal()), maxSecret, "bytes"},
		{"webhook_secret", len(q.WebhookSecret.Reveal()), maxSecret, "bytes"},
	} {
		if text.long > text.most {
			return badField(fmt.Sprintf("%s has %d %s: use at most %d", text.name, text.long, text.unit, text.most))
		}
	}
	return nil
}

// kind returns the mode of a registration.
func (q Request) kind() string {
	switch {
	case q.OpenAPI != nil:
		return storage.CapabilityREST
	case q.StaticTools != nil:
		return storage.CapabilityStatic
	}
	return storage.CapabilityMCP
}

// hasUnusedSecret reports whether a credential was sent that calls do not use.
func (q Request) hasUnusedSecret() bool {
	return (q.AuthType == "" || q.AuthType == authNone) && !q.AuthSecret.IsZero()
}

// applyTo returns the capability to store for a request, without its tools. It starts from the
// stored one: the owner stays, and so do fields that a newer version of this program wrote.
// Unused credentials are not kept.
func (q Request) applyTo(there storage.Capability, skipped []toolplan.Skip) storage.Capability {
	if q.hasUnusedSecret() {
		q.AuthSecret = storage.Secret{}
	}
	if q.AuthType != authAPIKey {
		q.AuthName, q.AuthIn = "", ""
	}
	c := there
	c.Member, c.Kind, c.UpstreamURL, c.Publish, c.Skipped = q.Member, q.kind(), q.UpstreamURL, !q.Private, skipped
	c.Label, c.Description = toolschema.Text(q.Label), toolschema.Text(q.Description)
	c.Timeout = q.Timeout
	c.PinsOff = q.PinsOff
	c.AuthType, c.AuthName, c.AuthIn, c.AuthSecret = q.AuthType, q.AuthName, q.AuthIn, q.AuthSecret
	c.SetSecretHeaders(q.Headers)
	c.Identity = q.Identity.Stored()
	c.WebhookURL, c.WebhookSecret = q.WebhookURL, q.WebhookSecret
	return c
}
