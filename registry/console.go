package registry

import (
	"fmt"
	"net/http"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/toolplan"
)

// actor returns the user who may read capabilities and pass the checks, or an error, before the
// body is read.
func (g *Registry) actor(r *http.Request, checks ...consoleauth.Check) (storage.User, error) {
	a, err := g.access.Actor(r, checks...)
	return a.User, err
}

// register handles POST /api/console/capabilities/register (protocol 4.8).
func (g *Registry) register(w http.ResponseWriter, r *http.Request) error {
	actor, err := g.access.Actor(r, admin.Actor.Developer)
	if err != nil {
		return err
	}
	ctx, leave, err := g.BeginReading(r.Context(), actor.Sub)
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
	if err := g.note(r, actor.User, fmt.Sprintf("register %s %s %d", done.Member, done.Kind, done.ToolCount)+takenFrom(done.Capability)); err != nil {
		return err
	}
	return reply.Success(w, newRegisterResult(done))
}

// takenFrom says whose name it was, of a capability that has passed to another owner.
func takenFrom(c storage.Capability) string {
	if c.TakenFrom == "" {
		return ""
	}
	return " for " + c.Owner + ", taken from " + c.TakenFrom
}

// preview handles POST /api/console/capabilities/preview: the same request, but nothing is stored.
func (g *Registry) preview(w http.ResponseWriter, r *http.Request) error {
	actor, err := g.actor(r, admin.Actor.Developer)
	if err != nil {
		return err
	}
	ctx, leave, err := g.BeginReading(r.Context(), actor.Sub)
	if err != nil {
		return err
	}
	defer leave()
	q, err := readRequest(w, r)
	if err != nil {
		return writeRejection(w, err)
	}
	done, err := g.Preview(ctx, actor, q)
	if err != nil {
		return writeRejection(w, err)
	}
	return reply.Success(w, previewResult{newRegisterResult(done), toolplan.Public(done.Tools), done.Lint})
}

// list handles GET /api/console/capabilities.
func (g *Registry) list(w http.ResponseWriter, r *http.Request) error {
	actor, err := g.actor(r)
	if err != nil {
		return err
	}
	all, err := g.List(r.Context(), actor)
	if err != nil {
		return err
	}
	lines := make([]summary, len(all))
	for i, c := range all {
		lines[i] = newSummary(c, g.OffBus(c))
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
	actor, err := g.actor(r, checks...)
	if err != nil {
		return err
	}
	member := r.PathValue("member")
	if r.Method == http.MethodDelete {
		if err := g.Remove(r.Context(), actor, member); err != nil {
			return err
		}
		if err := g.note(r, actor, "remove "+member); err != nil {
			return err
		}
		return reply.Success(w, map[string]string{"member": member})
	}
	leave, err := g.showing.take(r.Context(), actor.Sub)
	if err != nil {
		return err
	}
	defer leave()
	c, err := g.Show(r.Context(), actor, member)
	if err != nil {
		return err
	}
	return reply.Success(w, newCapabilityView(c))
}

// note records a change in the audit trail, before it is answered. The detail names the
// capability and no field of the request: some hold secrets.
func (g *Registry) note(r *http.Request, user storage.User, detail string) error {
	if g.c.Audit == nil {
		return nil
	}
	e := reqctx.Event(r, event.Registration, g.c.ClientIP(r))
	e.User, e.Status, e.Detail = user.Sub, http.StatusOK, detail
	if err := g.c.Audit.NoteNow(r.Context(), e); err != nil {
		return auditFailed.Because(err)
	}
	return nil
}
