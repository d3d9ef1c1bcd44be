package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/registry/internal/fetch"
	"github.com/keystile/keystile/registry/internal/fields"
	"github.com/keystile/keystile/registry/internal/names"
	"github.com/keystile/keystile/registry/openapi"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/toolplan"
)

// Forms is a [Registry] for programs that hold what the endpoints take as JSON: the pages of package console, and the
// command line. The endpoints check who may do what; the callers of Forms must check the role of the actor, and the
// age of the sign-in, before they call it. Its methods refuse a request with the same failures as the endpoints.
type Forms struct{ *Registry }

// BeginReading waits until a registration or preview of an actor may be read, and returns the ctx to handle it
// with; the caller must call leave when it has been answered. It is to be called before the body is read into
// memory: a user has one at a time and all users together four, so that large documents do not use up the memory,
// and others wait for 10 seconds. Its error is then a refusal with HTTP status 429 or 503. The methods that
// register and preview call it where the caller has not.
func (f Forms) BeginReading(ctx context.Context, actor string) (_ context.Context, leave func(), err error) {
	return f.reading.Begin(ctx, actor)
}

// PreviewBody does what the endpoint preview does (protocol 4.8): it returns what would be stored, and advice on it.
// Nothing is stored. Where the body leaves out the name or the upstream URL, the capability has those that the document
// suggests, if it does: a name that can be registered, and a URL that may be relative to that of the document.
func (f Forms) PreviewBody(ctx context.Context, actor storage.User,
	body []byte) (storage.Capability, []toolplan.Tool, []string, error) {
	ctx, q, leave, err := f.read(ctx, actor, body)
	if err != nil {
		return storage.Capability{}, nil, nil, asFailure(err)
	}
	defer leave()
	q.Advise = true
	done, err := f.Preview(ctx, actor, q)
	done.Member = cmp.Or(done.Member, names.From(done.title))
	done.UpstreamURL = cmp.Or(done.UpstreamURL, done.server)
	return done.Capability, done.Tools, done.advice(), asFailure(err)
}

// RegisterBody does what the endpoint register does (protocol 4.8), and returns the names of the tools that it has
// removed, and advice. Secrets that the body leaves out are those that are stored, if they still go to the same server.
func (f Forms) RegisterBody(ctx context.Context, actor storage.User,
	body []byte) (_ storage.Capability, removed, advice []string, err error) {
	ctx, q, leave, err := f.read(ctx, actor, body)
	if err != nil {
		return storage.Capability{}, nil, nil, asFailure(err)
	}
	defer leave()
	p, err := f.place(ctx, actor, q)
	if err != nil {
		return storage.Capability{}, nil, nil, err
	}
	if p.Version != 0 && mayChange(ctx, actor, p.Capability) {
		q.keepSecrets(p.Capability)
	}
	q.found = &p
	done, err := f.registered(ctx, actor, q)
	return done.Capability, done.Removed, done.advice(), asFailure(err)
}

// FetchDocument reads an OpenAPI document at an address that an actor names. Private addresses are reached only where
// capabilities may be.
func (f Forms) FetchDocument(ctx context.Context, actor storage.User, address string) ([]byte, error) {
	ctx, leave, err := f.reading.Begin(ctx, actor.Sub)
	if err != nil {
		return nil, err
	}
	defer leave()
	return fetch.Document(ctx, f.dialer, address)
}

// UpdateBody does what a PATCH of a capability does (decision 36): it changes what is sent, and leaves the tools, the
// upstream and the owner as they are. It returns what the capability is now, and what its owner should know.
func (f Forms) UpdateBody(ctx context.Context, actor storage.User, member string, body []byte) (storage.Capability,
	[]string, error) {
	sent, err := fields.Of(body, `: send what changes, such as {"label":"..."}`)
	if err != nil {
		return storage.Capability{}, nil, asFailure(err)
	}
	ch, err := changeOf(sent)
	if err != nil {
		return storage.Capability{}, nil, asFailure(err)
	}
	done, err := f.apply(ctx, actor, member, ch)
	return done.Capability, done.advice(), asFailure(err)
}

// PinsBody returns the data of the endpoint pins.
func (f Forms) PinsBody(ctx context.Context, actor storage.User, member string) (json.RawMessage, error) {
	h, err := f.ShowPins(ctx, actor, member)
	if err != nil {
		return nil, err
	}
	return json.Marshal(newPinsView(h))
}

// AcceptBody does what a POST of the endpoint pins does.
func (f Forms) AcceptBody(ctx context.Context, actor storage.User, member string, body []byte) error {
	names, digest, err := readAccept(body)
	if err == nil {
		_, err = f.AcceptPins(ctx, actor, member, names, digest)
	}
	return asFailure(err)
}

// read waits for the turn of a body, and reads it. If there is no error the caller must call leave.
func (f Forms) read(ctx context.Context, actor storage.User,
	body []byte) (_ context.Context, q Request, leave func(), err error) {
	if ctx, leave, err = f.reading.Begin(ctx, actor.Sub); err != nil {
		return ctx, q, nil, err
	}
	sent, err := fields.Of(body, "")
	if err == nil {
		err = q.fill(sent)
	}
	if err != nil {
		leave()
	}
	return ctx, q, leave, err
}

// keepSecrets takes the secrets over that were left out. One never goes to a server for which it was not given.
func (q *Request) keepSecrets(there storage.Capability) {
	if q.AuthSecret.IsZero() && q.AuthType == there.AuthType && q.AuthType != "" && q.AuthType != authNone &&
		sameServer(q.UpstreamURL, there.UpstreamURL) {
		q.AuthSecret = there.AuthSecret
	}
	if sameServer(q.UpstreamURL, there.UpstreamURL) {
		q.Headers = fields.With(there.SecretHeaders(), q.Headers)
	}
	if q.WebhookSecret.IsZero() && q.WebhookURL != "" && q.WebhookURL == there.WebhookURL {
		q.WebhookSecret = there.WebhookSecret
	}
}

func sameServer(a, b string) bool {
	x, err := url.Parse(a)
	y, err2 := url.Parse(b)
	return err == nil && err2 == nil && x.Scheme == y.Scheme && strings.EqualFold(x.Host, y.Host)
}

// advice returns what a registration is told: why calls will not work, and how to mend the document.
func (r Registered) advice() []string {
	if r.Warning == "" {
		return r.Advice
	}
	return append([]string{r.Warning}, r.Advice...)
}

// asFailure gives a Rejection the form of other refusals.
func asFailure(err error) error {
	var no *openapi.Rejection
	if !errors.As(err, &no) {
		return err
	}
	msg := no.Msg
	for i, s := range no.Skipped[:min(len(no.Skipped), 3)] {
		msg += map[bool]string{true: "; left out: ", false: ", "}[i == 0] + s.Pointer + " (" + s.Reason + ")"
	}
	return &reply.Failure{Status: 400, Errcode: no.Errcode, Msg: msg} // protocol 4.8
}
