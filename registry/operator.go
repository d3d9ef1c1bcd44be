package registry

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// PreviewBody does what the endpoint preview does for a body in JSON (protocol 4.8): it returns what
// would be stored, and advice on it. Nothing is stored. The caller must check the actor's role.
func (g *Registry) PreviewBody(ctx context.Context, actor storage.User,
	body []byte) (storage.Capability, []toolplan.Tool, []string, error) {
	ctx, leave, err := g.BeginReading(ctx, actor.Sub)
	if err != nil {
		return storage.Capability{}, nil, nil, err
	}
	defer leave()
	q, err := requestOf(body)
	if err != nil {
		return storage.Capability{}, nil, nil, asFailure(err)
	}
	q.Lint = true
	done, err := g.Preview(ctx, actor, q)
	return done.Capability, done.Tools, done.advice(), asFailure(err)
}

// RegisterBody does what the endpoint register does for a body in JSON (protocol 4.8). Secrets that
// the body leaves out are those that are stored, if they still go to the same server. The caller
// must check the actor's role.
func (g *Registry) RegisterBody(ctx context.Context, actor storage.User,
	body []byte) (storage.Capability, []string, error) {
	ctx, leave, err := g.BeginReading(ctx, actor.Sub)
	if err != nil {
		return storage.Capability{}, nil, err
	}
	defer leave()
	q, err := requestOf(body)
	if err != nil {
		return storage.Capability{}, nil, asFailure(err)
	}
	p, err := g.place(ctx, actor, q)
	if err != nil {
		return storage.Capability{}, nil, err
	}
	if p.Version != 0 && mayChange(actor, p.Capability) {
		q.keepSecrets(p.Capability)
	}
	q.found = &p
	done, err := g.registered(ctx, actor, q)
	return done.Capability, done.advice(), asFailure(err)
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

func requestOf(body []byte) (q Request, err error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil || fields == nil {
		return q, badField("the body is not one JSON object")
	}
	return q, q.fill(fields)
}

// keepSecrets takes the secrets over that were left out. One never goes to a server for which it was not given.
func (q *Request) keepSecrets(there storage.Capability) {
	if q.AuthSecret.IsZero() && q.AuthType == there.AuthType && q.AuthType != "" && q.AuthType != authNone &&
		sameServer(q.UpstreamURL, there.UpstreamURL) {
		q.AuthSecret = there.AuthSecret
	}
	if sameServer(q.UpstreamURL, there.UpstreamURL) {
		q.Headers = over(there.SecretHeaders(), q.Headers)
	}
	if q.WebhookSecret.IsZero() && q.WebhookURL != "" && q.WebhookURL == there.WebhookURL {
		q.WebhookSecret = there.WebhookSecret
	}
}

// over returns headers with others that take the place of those of their names.
func over(there, others map[string]storage.Secret) map[string]storage.Secret {
	set := make(map[string]*storage.Secret, len(others))
	for name, value := range others {
		set[name] = &value
	}
	return change{headers: set}.headersOver(there)
}

func sameServer(a, b string) bool {
	x, err := url.Parse(a)
	y, err2 := url.Parse(b)
	return err == nil && err2 == nil && x.Scheme == y.Scheme && strings.EqualFold(x.Host, y.Host)
}

// advice returns what a registration is told: why calls will not work, and how to mend the document.
func (r Registered) advice() []string {
	if r.Warning == "" {
		return r.Lint
	}
	return append([]string{r.Warning}, r.Lint...)
}

// asFailure gives a Rejection the form of other refusals.
func asFailure(err error) error {
	var no *Rejection
	if !errors.As(err, &no) {
		return err
	}
	msg := no.Msg
	for i, s := range no.Skipped[:min(len(no.Skipped), 3)] {
		msg += map[bool]string{true: "; left out: ", false: ", "}[i == 0] + s.Pointer + " (" + s.Reason + ")"
	}
	return &reply.Failure{Status: 400, Errcode: no.Errcode, Msg: msg} // protocol 4.8
}
