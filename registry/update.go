package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/webhook"
	"github.com/keystile/keystile/registry/internal/fields"
	"github.com/keystile/keystile/storage"
)

// change holds what an update changes of a capability beside its tools. A nil field stays as it is; an empty one is
// as if it had never been given.
//
// An update changes no tool, upstream or owner, for which there is Give. A secret that was given for one use is not put
// to another: another kind of credential needs its own, and so does a webhook at another address. An argument that a
// header of an update sets is no longer sent, but stays in the schema of its tool until it is registered again.
type change struct {
	label         *string
	description   *string
	timeout       *int // seconds; 0: the default
	authType      *string
	authName      *string
	authIn        *string
	authSecret    *storage.Secret
	webhookURL    *string
	webhookSecret *storage.Secret
	pinsOff       *bool

	identity, subject, jti *string // of Request.Identity

	// headers are set beside those that are there; a nil value removes one.
	headers   map[string]*storage.Secret
	noHeaders bool // all others are removed
}

// webhookSecretGone is the warning of an update that says where events go and not how they are signed.
const webhookSecretGone = "webhook_secret is not kept: webhook_url leads elsewhere now"

// apply changes a capability and leaves its tools and its upstream as they are. Its errors are those of Remove, or a
// *[Rejection] if the change is at fault.
func (g *Registry) apply(ctx context.Context, actor storage.User, member string, ch change) (Registered, error) {
	var warning string
	c, err := g.edit(ctx, actor, member, func(c storage.Capability) (storage.Capability, error) {
		q := requestFrom(c)
		warning = ch.apply(&q)
		after := q.applyTo(c, c.Skipped)
		after.Kind = c.Kind
		return after, cmp.Or(q.check(), mayTell(actor, c.Identity, after.Identity))
	})
	if err != nil {
		return Registered{}, err
	}
	return Registered{Capability: c}.withWarning(warning).withWarning(g.unlisted(c)), nil
}

// edit changes a capability and leaves its tools as they are.
func (g *Registry) edit(ctx context.Context, actor storage.User, member string,
	change func(storage.Capability) (storage.Capability, error)) (after storage.Capability, err error) {
	var before storage.Capability
	p, err := retryOnConflict(ctx, func() (storage.Place, error) {
		p, err := g.c.Store.StoredPlace(ctx, member)
		if err == nil && !mayChange(ctx, actor, p.Capability) {
			err = notYours // and the tools are not decoded
		}
		if err != nil {
			return p, err
		}
		before = p.Capability
		after, err := change(before)
		if err != nil {
			return p, err
		}
		tools, err := g.c.Store.ToolsAt(ctx, p)
		if err != nil {
			return p, err
		}
		return g.write(ctx, webhook.Updated, p, after, tools, g.c.shareLimit(actor, before, after, len(tools)))
	})
	if err != nil {
		return p.Capability, toNotFound(err)
	}
	g.announce(p, 0)
	return p.Capability, g.note(ctx, actor, "update", before, p.Capability)
}

// SetPublished puts a capability on the bus, or takes it off, with the tools that are stored. Its
// errors are those of Remove.
func (g *Registry) SetPublished(ctx context.Context, actor storage.User, member string,
	on bool) (storage.Capability, error) {
	c, err := g.edit(ctx, actor, member, func(c storage.Capability) (storage.Capability, error) {
		c.Publish = on
		return c, nil
	})
	return c, asFailure(err)
}

// Give gives a capability another owner, a sub or group:NAME, "" for nobody; only an administrator may. Consents,
// tokens, keys and bundles that named it do not open it any more (decision 100). Its errors are those of Remove.
func (g *Registry) Give(ctx context.Context, actor storage.User, member, owner string) (Registered, error) {
	if actor.Role != storage.RoleAdmin {
		return Registered{}, admin.NotAdmin
	}
	changed := false
	c, err := g.edit(ctx, actor, member, func(c storage.Capability) (storage.Capability, error) {
		changed, c.Owner = c.Owner != owner, owner
		return c, nil
	})
	done := Registered{Capability: c}
	if changed {
		done = done.withWarning(ownerChanged)
	}
	return done.withWarning(g.unlisted(c)), asFailure(err)
}

// requestFrom returns the registration that a capability would be of, without its tools.
func requestFrom(c storage.Capability) Request {
	return Request{
		Member: c.Member, Label: c.Label, Description: c.Description, UpstreamURL: c.UpstreamURL,
		AuthType: c.AuthType, AuthName: c.AuthName, AuthIn: c.AuthIn, AuthSecret: c.AuthSecret,
		Headers: c.SecretHeaders(), Identity: c.Identity,
		WebhookURL: c.WebhookURL, WebhookSecret: c.WebhookSecret, Timeout: c.Timeout, Private: !c.Publish,
		PinsOff: c.PinsOff,
	}
}

// apply changes a request, and returns what the caller should know. A secret that was given for one use is not put to
// another: that of another kind of credential, or of a webhook at another address, goes.
func (ch change) apply(q *Request) (warning string) {
	if ch.authType != nil && *ch.authType != q.AuthType {
		q.AuthSecret, q.AuthName, q.AuthIn = storage.Secret{}, "", ""
	}
	if ch.webhookURL != nil && *ch.webhookURL != q.WebhookURL && !q.WebhookSecret.IsZero() {
		q.WebhookSecret = storage.Secret{}
		if *ch.webhookURL != "" && ch.webhookSecret == nil {
			warning = webhookSecretGone
		}
	}
	set(&q.Label, ch.label)
	set(&q.Description, ch.description)
	set(&q.Timeout, ch.timeout)
	set(&q.AuthType, ch.authType)
	set(&q.AuthName, ch.authName)
	set(&q.AuthIn, ch.authIn)
	set(&q.AuthSecret, ch.authSecret)
	set(&q.WebhookURL, ch.webhookURL)
	set(&q.WebhookSecret, ch.webhookSecret)
	set(&q.PinsOff, ch.pinsOff)
	if ch.noHeaders {
		q.Headers = nil
	}
	q.Headers = fields.Over(q.Headers, ch.headers)
	q.Identity = q.Identity.With(ch.identity, ch.subject, ch.jti)
	return warning
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

// notChanged says of fields of a registration why an update does not take them.
const notChanged = "not a part of an update, which leaves the tools, the upstream and the owner as they are: " +
	"register the capability again"

// changeOf reads the fields of an update as JSON Merge Patch has them (RFC 7396): null is as if a field had never
// been given. An unknown one is refused, because its sender expects an effect.
func changeOf(sent map[string]json.RawMessage) (ch change, err error) {
	texts := map[string]**string{
		"label": &ch.label, "description": &ch.description, "auth_type": &ch.authType, "auth_name": &ch.authName,
		"auth_in":     &ch.authIn,
		"webhook_url": &ch.webhookURL,
		"identity":    &ch.identity, "identity_subject": &ch.subject, "identity_jti": &ch.jti,
	}
	secrets := map[string]**storage.Secret{"auth_secret": &ch.authSecret, "webhook_secret": &ch.webhookSecret}
	var wrong []string
	for name, raw := range sent {
		null, text, must := string(raw) == "null", "", ""
		if (texts[name] != nil || secrets[name] != nil) && !null {
			var ok bool
			if text, ok = fields.Text(raw); !ok {
				must = "a string of UTF-8 text, or null"
			}
		}
		switch {
		case texts[name] != nil:
			*texts[name] = &text
		case secrets[name] != nil:
			*secrets[name] = new(storage.NewSecret(text))
		case name == "timeout":
			ch.timeout = new(int)
			if !null && (json.Unmarshal(raw, ch.timeout) != nil || !fields.IsTimeout(*ch.timeout)) {
				must = fields.TimeoutRule + ", or null"
			}
		case name == "pins":
			on := true
			if !null && json.Unmarshal(fields.OnOff(raw), &on) != nil {
				must = "true, false, on, off or null"
			}
			ch.pinsOff = new(!on)
		case name == "headers" && null:
			ch.noHeaders = true
		case name == "headers":
			var ok bool
			if ch.headers, ok = fields.Headers(raw, true); !ok {
				must = fields.HeadersRule + ", where null removes one"
			}
		default:
			must = notChanged
			if known, _ := new(Request).set(name, raw); !known && name != "owner" {
				return ch, badField(fmt.Sprintf("%.64q is not a field of an update: it has label, description, "+
					"timeout, auth_type, auth_name, auth_in, auth_secret, "+
					"webhook_url, webhook_secret, pins, identity, identity_subject, identity_jti and headers", name))
			}
			wrong = append(wrong, name+" is "+must)
			continue
		}
		if must != "" {
			wrong = append(wrong, name+" must be "+must)
		}
	}
	if wrong != nil {
		slices.Sort(wrong)
		return ch, badField(strings.Join(wrong, "; "))
	}
	return ch, nil
}

// maxUpdate bounds the body of an update: texts and secrets, each with a limit of its own.
const maxUpdate = 256 << 10

// update handles PATCH /api/console/capabilities/{member}.
func (g *Registry) update(w http.ResponseWriter, r *http.Request) error {
	actor, err := g.access.Actor(r, admin.Actor.Developer, admin.Actor.Fresh)
	if err != nil {
		return err
	}
	sent, err := fields.Read(w, r, maxUpdate)
	if err != nil {
		return writeRejection(w, err)
	}
	change, err := changeOf(sent)
	if err != nil {
		return writeRejection(w, err)
	}
	done, err := g.apply(actor.In(r.Context()), actor.User, r.PathValue("member"), change)
	if err != nil {
		return writeRejection(w, err)
	}
	return reply.Success(w, updateResult{newSummary(done.Capability, done.Warning), newConnection(done.Capability)})
}
