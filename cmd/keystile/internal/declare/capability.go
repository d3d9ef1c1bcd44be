package declare

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/lasthop"
	"github.com/keystile/keystile/storage/service"
)

const kindCapability = "capability"

// capabilityDoc is a capability as a document has it.
type capabilityDoc struct {
	Type          *string            `json:"type,omitempty"` // rest, mcp or static: what has to be given with it
	Label         *string            `json:"label,omitempty"`
	Description   *string            `json:"description,omitempty"`
	UpstreamURL   *string            `json:"upstream_url,omitempty"`
	AuthType      *string            `json:"auth_type,omitempty"`
	AuthName      *string            `json:"auth_name,omitempty"`
	AuthIn        *string            `json:"auth_in,omitempty"`
	AuthSecret    *string            `json:"auth_secret,omitempty"`
	Headers       *map[string]string `json:"headers,omitempty"`
	Identity      *string            `json:"identity,omitempty"`
	Subject       *string            `json:"identity_subject,omitempty"`
	JTI           *string            `json:"identity_jti,omitempty"`
	WebhookURL    *string            `json:"webhook_url,omitempty"`
	WebhookSecret *string            `json:"webhook_secret,omitempty"`
	Timeout       *int               `json:"timeout,omitempty"` // seconds
	Publish       *bool              `json:"publish,omitempty"`
	Pins          *bool              `json:"pins,omitempty"`
	Owner         *string            `json:"owner,omitempty"`
	OpenAPI       json.RawMessage    `json:"openapi,omitempty"`
	ToolsStatic   json.RawMessage    `json:"tools_static,omitempty"`
}

// whole are the fields of a capability that change by registering it again.
var whole = []string{"upstream_url", "owner", "openapi", "tools_static"}

type capabilitiesKind struct{ *Applier }

func (k capabilitiesKind) read(ctx context.Context, d Document) (typed capabilityDoc, err error) {
	for _, name := range referable[kindCapability] {
		if referred(d.Fields[name]) {
			return typed, d.wrong("%s: what it refers to is not read", name)
		}
	}
	if err := into(d, &typed); err != nil {
		return typed, err
	}
	if typed.Headers != nil { // as the registrar writes them
		named := map[string]string{}
		for name, value := range *typed.Headers {
			named[http.CanonicalHeaderKey(name)] = value
		}
		typed.Headers = &named
	}
	if typed.Owner != nil {
		*typed.Owner, err = k.owner(ctx, d, *typed.Owner)
	}
	return typed, err
}

func (k capabilitiesKind) want(ctx context.Context, d Document) (object, error) {
	typed, err := k.read(ctx, d)
	if err != nil {
		return nil, err
	}
	typed.Type = nil
	return typed.object(typed.digest())
}

// object returns the fields, those that nobody is to read as digests.
func (c capabilityDoc) object(digest string) (object, error) {
	documents := c.OpenAPI != nil || c.ToolsStatic != nil
	c.OpenAPI, c.ToolsStatic = nil, nil
	o, err := objectOf(c)
	if err != nil {
		return nil, err
	}
	for name, secret := range map[string]*string{"auth_secret": c.AuthSecret, "webhook_secret": c.WebhookSecret} {
		if secret != nil {
			o[name] = hidden(*secret, "a secret")
		}
	}
	if c.Headers != nil {
		o["headers"] = hidden(*c.Headers, "headers")
	}
	if documents {
		o["openapi"] = value{text: digest, word: "a document"}
	}
	return o, nil
}

// hidden returns a value that can be compared and is not shown.
func hidden(v any, word string) value { return value{text: sum(v), word: word} }

func sum(v any) string {
	text, _ := json.Marshal(v) // of texts
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:])
}

// digest returns what tells the documents of an API from others.
func (c capabilityDoc) digest() string {
	return sum([]string{string(c.OpenAPI), string(c.ToolsStatic)})
}

func (k capabilitiesKind) now(ctx context.Context, d Document, was service.Declared) (object, service.Declared, error) {
	c, err := k.c.Store.Capability(ctx, d.Name)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, was, nil
	}
	if err != nil {
		return nil, was, err
	}
	record := capabilityDocOf(c)
	record.AuthSecret, record.WebhookSecret = new(c.AuthSecret.Reveal()), new(c.WebhookSecret.Reveal())
	headers := map[string]string{}
	for name, secret := range c.SecretHeaders() {
		headers[http.CanonicalHeaderKey(name)] = secret.Reveal()
	}
	record.Headers, record.OpenAPI = &headers, json.RawMessage("{}")
	o, err := record.object(was.Digest)
	return o, was, err
}

func capabilityDocOf(c storage.Capability) capabilityDoc {
	told := c.Identity.Shown()
	d := capabilityDoc{Type: &c.Kind, Label: &c.Label, Description: &c.Description, UpstreamURL: &c.UpstreamURL,
		AuthType: &c.AuthType, AuthName: &c.AuthName, AuthIn: &c.AuthIn, WebhookURL: &c.WebhookURL,
		Timeout: new(int(c.CallTimeout() / time.Second)), Publish: &c.Publish, Pins: new(!c.PinsOff), Owner: new(c.Owner),
		Identity: &told.Kind}
	if told.Kind == lasthop.Signed {
		d.Subject, d.JTI = &told.Subject, &told.JTI
	}
	return d
}

func (k capabilitiesKind) make(ctx context.Context, d Document, is *service.Declared) (map[string]string, error) {
	typed, err := k.read(ctx, d)
	if err != nil {
		return nil, err
	}
	return nil, k.register(ctx, d, typed, is)
}

// register registers all of a capability.
func (k capabilitiesKind) register(ctx context.Context, d Document, typed capabilityDoc, is *service.Declared) error {
	documents := typed.OpenAPI != nil || typed.ToolsStatic != nil
	if typed.Type != nil && *typed.Type != storage.CapabilityMCP && !documents {
		return d.wrong("openapi is missing: what was registered cannot be read back, so give the document again, such as " +
			"openapi: {file: api.yaml}")
	}
	q := registry.Request{Member: d.Name, OpenAPI: typed.OpenAPI, StaticTools: typed.ToolsStatic}
	for to, from := range map[*string]*string{&q.Label: typed.Label, &q.Description: typed.Description,
		&q.UpstreamURL: typed.UpstreamURL, &q.AuthType: typed.AuthType, &q.AuthName: typed.AuthName,
		&q.AuthIn: typed.AuthIn, &q.WebhookURL: typed.WebhookURL, &q.Owner: typed.Owner, &q.Identity.Kind: typed.Identity,
		&q.Identity.Subject: typed.Subject, &q.Identity.JTI: typed.JTI} {
		if from != nil {
			*to = *from
		}
	}
	if typed.AuthSecret != nil {
		q.AuthSecret = storage.NewSecret(*typed.AuthSecret)
	}
	if typed.WebhookSecret != nil {
		q.WebhookSecret = storage.NewSecret(*typed.WebhookSecret)
	}
	if typed.Headers != nil {
		q.Headers = map[string]storage.Secret{}
		for name, text := range *typed.Headers {
			q.Headers[name] = storage.NewSecret(text)
		}
	}
	if typed.Timeout != nil {
		q.Timeout = *typed.Timeout
	}
	q.Private = typed.Publish != nil && !*typed.Publish
	q.PinsOff = typed.Pins != nil && !*typed.Pins
	if _, err := k.c.Registry.Register(k.c.By.In(ctx), k.c.Owner, q); err != nil {
		return told(d, err)
	}
	is.Digest = typed.digest()
	return nil
}

// told returns an error of the registrar about a document: what is wrong with it is for its author.
func told(d Document, err error) error {
	if failure := reply.FailureOf(err); failure != nil && failure.Status < 500 {
		return d.wrong("%w", err)
	}
	return err
}

func (k capabilitiesKind) remove(ctx context.Context, was service.Declared) error {
	err := k.c.Registry.Remove(k.c.By.In(ctx), k.c.Owner, was.Name)
	if failure := reply.FailureOf(err); failure != nil && failure.Status == 404 {
		return nil
	}
	return err
}

func (k capabilitiesKind) all(ctx context.Context) (docs []Document, err error) {
	all, err := pages(func(from string) ([]storage.Capability, string, error) {
		return k.c.Store.Capabilities(ctx, "", from, driver.Page)
	})
	for _, c := range all {
		record := capabilityDocOf(c)
		if *record.Owner, err = k.username(ctx, c.Owner); err != nil {
			return nil, err
		}
		d, err := document(kindCapability, c.Member, record)
		if err != nil {
			return nil, err
		}
		if !c.Publish {
			d.Fields["publish"] = json.RawMessage("false")
		}
		docs = append(docs, d)
	}
	return docs, err
}
