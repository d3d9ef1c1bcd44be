package registry

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/keystile/keystile/registry/internal/ownbus"
	"github.com/keystile/keystile/registry/internal/strictmode"
	"github.com/keystile/keystile/registry/openapi"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/lasthop"
	"github.com/keystile/keystile/storage/toolplan"
)

// Registered holds a capability with its tools, stored or previewed.
type Registered struct {
	storage.Capability
	Tools   []toolplan.Tool
	Removed []string // tools that were there before, and that a registration has removed
	Warning string   // why calls will not work, "" if nothing is known
	Advice  []string // on the document: of a preview, and of the strict validator if it was asked for

	// Usual holds the parts that most documents have and calls do without (toolplan.Skip.Usual), which
	// [Registry.Register] has left out beside Skipped. Elsewhere they are a part of Skipped.
	Usual []toolplan.Skip

	title, server string // of the document of a preview
}

// ownerChanged is the warning of a registration that passes a name on.
const ownerChanged = "the name has another owner now: consents, tokens, API keys and bundles that named it do not " +
	"open it any more, and users are asked again"

// Register stores a capability with its tools, and replaces what was stored under its name: all
// at once, or nothing (protocol 4.8). A name belongs to the user who registered it first, and stays
// theirs for 90 days after the deletion; an admin may replace any capability, which keeps its owner, and take
// or pass on any name, which Capability.TakenFrom says then. Concurrent registrations of one name
// are stored one after the other, each as a whole.
//
// The caller must check that the actor's role permits registration; it is recorded in Config.Audit before Register
// returns. The error is an *[openapi.Rejection] if the request is at fault, and has HTTP status 403 if the name is
// taken.
//
// Concurrent registrations of one name are stored one after the other, each as a whole; none is refused because of the
// other. The name keeps its owner. Registered again in the console without its secrets, a capability keeps them if its
// server is the same. A secret that calls would not use is not stored.
func (g *Registry) Register(ctx context.Context, actor storage.User, q Request) (Registered, error) {
	done, err := g.registered(ctx, actor, q)
	// Hosts take whatever is in Skipped for something that they have to mend.
	done.Skipped, done.Usual = parted(done.Skipped)
	return done, err
}

// parted returns the parts of a list that are not usual, and those that are.
func parted(skipped []toolplan.Skip) (other, usual []toolplan.Skip) {
	for _, s := range skipped {
		if s.Usual {
			usual = append(usual, s)
		} else {
			other = append(other, s)
		}
	}
	return other, usual
}

// registered is Register, with all that was left out in Skipped.
func (g *Registry) registered(ctx context.Context, actor storage.User, q Request) (Registered, error) {
	ctx, leave, err := g.reading.Begin(ctx, actor.Sub)
	if err != nil {
		return Registered{}, err
	}
	defer leave()
	if err := cmp.Or(q.check(), checkNotBus(g.base, q), mayTell(actor, lasthop.Identity{}, q.Identity)); err != nil {
		return Registered{}, err
	}
	p, there, err := g.lookUp(ctx, actor, q)
	if err == nil {
		err = g.checkKeepsTools(ctx, q, p, there)
	}
	if err != nil { // before a document is read in vain
		return Registered{}, err
	}
	q.found = &p
	r := &openapi.Result{Skipped: q.unknownFields}
	if q.kind() != storage.CapabilityMCP {
		leave, err := g.reading.Parse(ctx)
		if err != nil {
			return Registered{}, err
		}
		defer leave()
		if r, err = g.tools(ctx, q); err != nil {
			return Registered{}, err
		}
	}
	w, err := g.save(ctx, actor, q, r.Tools, r.Skipped)
	if err != nil {
		return Registered{}, err
	}
	c := w.Capability
	done := Registered{Capability: c, Tools: r.Tools, Warning: g.requestWarnings(q)}
	if c.TakenFrom != "" {
		done = done.withWarning(ownerChanged)
	}
	if c.AutoDiscover() {
		g.reading.End(ctx)
		done = g.withDiscoveredTools(ctx, &w.Place, done)
	}
	done.Removed = q.removedBy(done, there, w.before)
	g.announce(w.Place, w.created)
	if err := g.note(ctx, actor, "register", w.was, done.Capability); err != nil {
		return Registered{}, err
	}
	if c.AutoDiscover() && len(done.Tools) == 0 { // the warning says why already
		return done, nil
	}
	return done.withWarning(g.unlisted(c)), nil
}

// Preview returns what Register would store for a request of the actor. Fields that it does not
// need may be left out; without a name, exceeding the actor's limit is only a warning.
func (g *Registry) Preview(ctx context.Context, actor storage.User, q Request) (Registered, error) {
	ctx, leave, err := g.reading.Begin(ctx, actor.Sub)
	if err != nil {
		return Registered{}, err
	}
	defer leave()
	full := q
	full.Member, full.UpstreamURL = cmp.Or(q.Member, "x"), cmp.Or(q.UpstreamURL, "https://upstream.example")
	if err := cmp.Or(full.check(), checkNotBus(g.base, full), mayTell(actor, lasthop.Identity{}, q.Identity)); err != nil {
		return Registered{}, err
	}
	owner := actor.Sub
	if q.Member != "" {
		_, there, err := g.lookUp(ctx, actor, q)
		if err != nil {
			return Registered{}, err
		}
		owner = there.Owner // a group's, for its managers
	}
	done, err := g.buildPreview(ctx, q)
	if err != nil {
		return Registered{}, err
	}
	err = g.c.checkShare(ctx, actor, owner, done.Capability, len(done.Tools))
	if no := (*openapi.Rejection)(nil); q.Member == "" && errors.As(err, &no) {
		return done.withWarning(no.Msg), nil
	}
	return done, err
}

// buildPreview returns what would be stored for a request.
func (g *Registry) buildPreview(ctx context.Context, q Request) (Registered, error) {
	done := Registered{Capability: q.applyTo(storage.Capability{}, q.unknownFields), Warning: g.requestWarnings(q)}
	if q.kind() == storage.CapabilityMCP {
		return done, nil
	}
	leave, err := g.reading.Parse(ctx)
	if err != nil {
		return Registered{}, err
	}
	defer leave()
	r, err := g.tools(ctx, q)
	if err != nil {
		return Registered{}, err
	}
	done.Tools, done.Skipped, done.Advice = r.Tools, r.Skipped, r.Advice
	done.title, done.server = r.Title, r.Server
	done.ToolCount = len(done.Tools)
	if q.Advise {
		done.Advice = append(done.Advice, strictmode.Advice(r.Tools)...)
	}
	if q.Advise && q.OpenAPI != nil {
		done.Advice = append(done.Advice, openapi.Advise(ctx, q.OpenAPI, g.c.Validator)...)
	}
	return done, nil
}

// checkNotBus refuses the bus itself, at its address below base.
func checkNotBus(base *url.URL, q Request) error {
	if ownbus.Is(base, q.UpstreamURL) {
		return badUpstream("upstream_url: this is the bus itself: name the service whose tools are meant")
	}
	return nil
}

// requestWarnings returns why calls may fail although the request is valid.
func (g *Registry) requestWarnings(q Request) string {
	var out []string
	if u, err := url.Parse(q.UpstreamURL); err == nil && g.dialer.LooksPrivate(u) {
		out = append(out, "upstream_url is a private address: calls are refused until the operator allows it "+
			"(upstreams.allow_private)")
	}
	if q.hasUnusedSecret() {
		out = append(out, "auth_secret is not kept: auth_type says that there is none")
	}
	return strings.Join(out, "; ")
}
