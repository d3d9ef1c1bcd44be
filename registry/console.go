package registry

import (
	"net/http"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/toolplan"
)

// register handles POST /api/console/capabilities/register (protocol 4.8).
func (g *Registry) register(w http.ResponseWriter, r *http.Request) error {
	actor, err := g.access.Actor(r, admin.Actor.Developer)
	if err != nil {
		return err
	}
	ctx, leave, err := g.reading.Begin(actor.In(r.Context()), actor.Sub)
	if err != nil {
		return err
	}
	defer leave()
	q, err := readRequest(w, r)
	if err != nil {
		return writeRejection(w, err)
	}
	q.createOnly = actor.Fresh() != nil
	done, err := g.registered(ctx, actor.User, q)
	if err != nil {
		return writeRejection(w, err)
	}
	return reply.Success(w, newRegisterResult(done))
}

// preview handles POST /api/console/capabilities/preview: the same request, but nothing is stored.
func (g *Registry) preview(w http.ResponseWriter, r *http.Request) error {
	actor, err := g.access.Actor(r, admin.Actor.Developer)
	if err != nil {
		return err
	}
	ctx, leave, err := g.reading.Begin(actor.In(r.Context()), actor.Sub)
	if err != nil {
		return err
	}
	defer leave()
	q, err := readRequest(w, r)
	if err != nil {
		return writeRejection(w, err)
	}
	done, err := g.Preview(ctx, actor.User, q)
	if err != nil {
		return writeRejection(w, err)
	}
	return reply.Success(w, previewResult{newRegisterResult(done), toolplan.Public(done.Tools), done.Advice})
}

// list handles GET /api/console/capabilities?owner=: those of one owner, a sub or group:NAME, or all that the actor may
// see without asking whose: of a group that they manage they ask.
func (g *Registry) list(w http.ResponseWriter, r *http.Request) error {
	actor, err := g.access.Actor(r)
	if err != nil {
		return err
	}
	var all []Registered
	switch owner := r.URL.Query().Get("owner"); {
	case owner == "":
		all, err = g.List(r.Context(), actor.User)
	case !driver.ValidName(owner) || !actor.Sees(owner): // it has none that they may see
	default:
		all, err = g.listOf(r.Context(), owner)
	}
	if err != nil {
		return err
	}
	lines := make([]summary, len(all))
	for i, c := range all {
		lines[i] = newSummary(c.Capability, c.Warning)
	}
	return reply.Success(w, lines)
}

// one is GET, PATCH and DELETE /api/console/capabilities/{member}.
func (g *Registry) one(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodPatch {
		return g.update(w, r)
	}
	return g.showOrRemove(w, r)
}

// showOrRemove is GET and DELETE of one.
func (g *Registry) showOrRemove(w http.ResponseWriter, r *http.Request) error {
	var checks []consoleauth.Check
	if r.Method == http.MethodDelete {
		checks = append(checks, admin.Actor.Developer, admin.Actor.Fresh)
	}
	actor, err := g.access.Actor(r, checks...)
	if err != nil {
		return err
	}
	member := r.PathValue("member")
	if r.Method == http.MethodDelete {
		if err := g.Remove(actor.In(r.Context()), actor.User, member); err != nil {
			return err
		}
		return reply.Success(w, map[string]string{"member": member})
	}
	leave, err := g.showing.Take(r.Context(), actor.Sub)
	if err != nil {
		return err
	}
	defer leave()
	c, err := g.Show(actor.In(r.Context()), actor.User, member)
	if err != nil {
		return err
	}
	return reply.Success(w, newCapabilityView(c))
}
