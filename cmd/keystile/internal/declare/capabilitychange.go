package declare

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/lasthop"
	"github.com/keystile/keystile/storage/service"
)

func (k capabilitiesKind) change(ctx context.Context, d Document, is *service.Declared, fields []string) error {
	typed, err := k.read(ctx, d)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(fields, func(f string) bool { return slices.Contains(whole, f) }) {
		c, err := k.c.Store.Capability(ctx, d.Name)
		if err != nil {
			return err
		}
		return k.register(ctx, d, typed.over(c), is)
	}
	if slices.Contains(fields, publishField) {
		_, err := k.c.Registry.SetPublished(k.c.By.In(ctx), k.c.Owner, d.Name, *typed.Publish)
		if err != nil || len(fields) == 1 {
			return told(d, err)
		}
	}
	body, err := k.update(ctx, d, typed)
	if err != nil || string(body) == "{}" {
		return err
	}
	_, _, err = registry.Forms{Registry: k.c.Registry}.UpdateBody(k.c.By.In(ctx), k.c.Owner, d.Name, body)
	return told(d, err)
}

// update returns an update of all that a document says and that an update may be of. It says what stays too: a secret
// goes where the way in which it is used changes, unless it is given again.
func (k capabilitiesKind) update(ctx context.Context, d Document, typed capabilityDoc) ([]byte, error) {
	headers := typed.Headers
	typed.Type, typed.UpstreamURL, typed.Owner, typed.Publish, typed.Headers = nil, nil, nil, nil, nil
	typed.OpenAPI, typed.ToolsStatic = nil, nil
	said, err := json.Marshal(typed)
	if err != nil || headers == nil {
		return said, err
	}
	there, err := k.c.Store.Capability(ctx, d.Name)
	if err != nil {
		return nil, err
	}
	var all map[string]any
	if err := json.Unmarshal(said, &all); err != nil {
		return nil, err
	}
	each := map[string]any{}
	for _, name := range there.HeaderNames() {
		each[http.CanonicalHeaderKey(name)] = nil // it is removed
	}
	for name, value := range *headers {
		each[name] = value
	}
	all["headers"] = each
	return json.Marshal(all)
}

// over returns a document together with what is stored and the document does not say.
func (c capabilityDoc) over(there storage.Capability) capabilityDoc {
	whole := capabilityDocOf(there)
	whole.Owner = nil // it stays
	if !there.AuthSecret.IsZero() {
		whole.AuthSecret = new(there.AuthSecret.Reveal())
	}
	if !there.WebhookSecret.IsZero() {
		whole.WebhookSecret = new(there.WebhookSecret.Reveal())
	}
	headers := maps.Collect(func(yield func(string, string) bool) {
		for name, secret := range there.SecretHeaders() {
			if !yield(name, secret.Reveal()) {
				return
			}
		}
	})
	whole.Headers = &headers
	if c.Identity != nil && *c.Identity != lasthop.Signed {
		whole.Subject, whole.JTI = nil, nil
	}
	said, err := json.Marshal(c)
	if err == nil {
		err = json.Unmarshal(said, &whole)
	}
	if err != nil { // of what json has just written
		return c
	}
	return whole
}
