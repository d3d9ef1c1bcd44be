package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/storage"
)

// Registered is what came of a registration or a preview.
type Registered struct {
	storage.Capability
	Tools   []storage.Tool
	Warning string   // what will keep calls from working, "" if nothing is known to
	Lint    []string // advice on the document, of a preview that asked for it
}

// Register stores a capability with its tools, in place of what was stored under its name
// before: all at once, or nothing (spec 4.8). A name belongs to who took it first; an
// admin may take any. The error is a *Rejection if the request is at fault.
func (g *Registry) Register(ctx context.Context, actor storage.User, q Request) (Registered, error) {
	if err := q.check(); err != nil {
		return Registered{}, err
	}
	stored, err := g.c.Store.Capability(ctx, q.Member)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		stored.Owner = actor.Sub
	case err != nil:
		return Registered{}, err
	case !mayChange(actor, stored):
		return Registered{}, notYours
	}
	tools, skipped, err := g.tools(ctx, q)
	if err != nil {
		return Registered{}, err
	}
	c := q.capability(stored.Owner, skipped)
	c.Version, c.CreatedAt = stored.Version, stored.CreatedAt
	if c, err = g.c.Store.SaveCapability(ctx, c, tools); err != nil {
		return Registered{}, collided(err)
	}
	done := Registered{Capability: c, Tools: tools, Warning: g.warning(q)}
	if c.AutoDiscover() {
		done = g.discovered(ctx, done)
	}
	g.tell(c.Member)
	return done, nil
}

// Preview is Register without the storing: it shows what would become of a request. What
// is not needed for that may be left out of it.
func (g *Registry) Preview(ctx context.Context, q Request) (Registered, error) {
	full := q
	full.Member, full.UpstreamURL = cmp.Or(q.Member, "x"), cmp.Or(q.UpstreamURL, "https://upstream.example")
	if err := full.check(); err != nil {
		return Registered{}, err
	}
	tools, skipped, err := g.tools(ctx, q)
	done := Registered{Capability: q.capability("", skipped), Tools: tools, Warning: g.warning(q)}
	done.ToolCount = len(tools)
	if q.Lint && q.OpenAPI != nil {
		done.Lint = Lint(ctx, q.OpenAPI)
	}
	return done, err
}

// tools reads the tools of a request; a quick one has none yet.
func (g *Registry) tools(ctx context.Context, q Request) ([]storage.Tool, []storage.Skip, error) {
	select {
	case g.parsing <- struct{}{}:
		defer func() { <-g.parsing }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	o := Options{Member: q.Member, ResolveRefs: g.c.ResolveRefs}
	if q.ResolveRefs != nil {
		o.ResolveRefs = *q.ResolveRefs
	}
	var r *Result
	var err error
	switch q.kind() {
	case storage.CapabilityREST:
		r, err = Parse(ctx, q.OpenAPI, o)
	case storage.CapabilityStatic:
		r, err = StaticTools(ctx, q.StaticTools, o)
	default:
		return nil, q.unknown, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return callable(r.Tools, append(q.unknown, r.Skipped...))
}

// callable leaves out the tools whose plan can not be carried out.
func callable(all []storage.Tool, skipped []storage.Skip) ([]storage.Tool, []storage.Skip, error) {
	tools := all[:0]
	for _, t := range all {
		if t.Call != nil {
			if _, err := restcall.Compile(t); err != nil {
				skipped = append(skipped, storage.Skip{Pointer: "/" + t.Name, Reason: err.Error()})
				continue
			}
		}
		tools = append(tools, t)
	}
	skipped = skipped[:min(len(skipped), maxSkips)]
	if len(tools) == 0 {
		no := reject(Empty, "no operation of the document can be called: see what was left out")
		no.Skipped = skipped
		return nil, nil, no
	}
	return tools, skipped, nil
}

// discovered adds the tools that the upstream lists, if it answers in time. Otherwise the
// bus asks again.
func (g *Registry) discovered(ctx context.Context, done Registered) Registered {
	const later = "the upstream has not told its tools yet; it is asked again"
	if g.c.Discoverer == nil {
		done.Warning = join(done.Warning, later)
		return done
	}
	ctx, cancel := context.WithTimeout(ctx, discovery)
	defer cancel()
	tools, skipped, err := g.c.Discoverer.Discover(ctx, done.Capability)
	if err != nil {
		g.c.Log.InfoContext(ctx, "discovery failed", "member", done.Member, "err", err)
		done.Warning = join(done.Warning, later)
		return done
	}
	c := done.Capability
	c.Skipped = append(c.Skipped, skipped...)
	c.Skipped = c.Skipped[:min(len(c.Skipped), maxSkips)]
	saved, err := g.c.Store.SaveCapability(ctx, c, tools)
	if err != nil {
		g.c.Log.WarnContext(ctx, "the tools of a quick registration are not stored", "member", done.Member, "err", err)
		return done
	}
	done.Capability, done.Tools = saved, tools
	return done
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// warning says what keeps calls from being made although the URL is a good one.
func (g *Registry) warning(q Request) string {
	if u, err := url.Parse(q.UpstreamURL); err == nil && g.guard.LooksPrivate(u) {
		return "upstream_url is a private address: calls are refused until the operator allows it (upstreams.allow_private)"
	}
	return ""
}

// Remove ends a capability.
func (g *Registry) Remove(ctx context.Context, actor storage.User, member string) error {
	c, err := g.find(ctx, actor, member)
	if err != nil {
		return err
	}
	if err := g.c.Store.DeleteCapability(ctx, c); err != nil {
		return collided(err)
	}
	g.tell(member)
	return nil
}

// Show returns a capability with its tools.
func (g *Registry) Show(ctx context.Context, actor storage.User, member string) (Registered, error) {
	if _, err := g.find(ctx, actor, member); err != nil {
		return Registered{}, err
	}
	c, tools, err := g.c.Store.Tools(ctx, member)
	if errors.Is(err, storage.ErrNotFound) {
		err = notHere
	}
	return Registered{Capability: c, Tools: tools}, err
}

// List returns the capabilities that a user may see: an admin all, anybody else their own.
func (g *Registry) List(ctx context.Context, actor storage.User) (all []storage.Capability, err error) {
	owner := actor.Sub
	if actor.Role == storage.RoleAdmin {
		owner = ""
	}
	for from := ""; ; {
		page, next, err := g.c.Store.Capabilities(ctx, owner, from, storage.Page)
		if err != nil {
			return nil, err
		}
		if all = append(all, page...); next == "" {
			return all, nil
		}
		from = next
	}
}

// find returns a capability that the actor may look into and change.
func (g *Registry) find(ctx context.Context, actor storage.User, member string) (storage.Capability, error) {
	c, err := g.c.Store.Capability(ctx, member)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return c, notHere
	case err == nil && !mayChange(actor, c):
		return c, notYours
	}
	return c, err
}

func mayChange(actor storage.User, c storage.Capability) bool {
	return actor.Role == storage.RoleAdmin || c.Owner == actor.Sub
}

func (g *Registry) tell(member string) {
	if g.c.Changed != nil {
		g.c.Changed(member)
	}
}

// collided is the answer to who changed a capability that somebody else changed meanwhile.
func collided(err error) error {
	switch {
	case errors.Is(err, storage.ErrConflict), errors.Is(err, storage.ErrExists):
		return changed.Because(err)
	case errors.Is(err, storage.ErrInvalid):
		return limitf("the tools are too large to be stored: split the document into several capabilities")
	}
	return fmt.Errorf("registry: store: %w", err)
}
