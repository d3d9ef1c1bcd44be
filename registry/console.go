package registry

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/internal/visit"
	"github.com/keystile/keystile/storage"
)

// actor is who uses the console: a user, and when they signed in.
type actor struct {
	storage.User
	since time.Time
}

// actor returns who may register here, before anything of the body is read: 401 for nobody,
// 403 for who has no role for it or comes from another site's page, 400 for a body that is
// not JSON, in that order.
func (g *Registry) actor(r *http.Request) (actor, error) {
	a, err := g.visitor(r)
	if err != nil {
		return a, err
	}
	if a.Role != storage.RoleAdmin && a.Role != storage.RoleDeveloper {
		return a, notAllowed
	}
	if err := g.sameOrigin.Check(r); err != nil {
		return a, crossOrigin.Because(err)
	}
	if r.Method == http.MethodPost {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return a, notJSON
		}
	}
	return a, nil
}

// visitor returns who sits in front of the browser.
func (g *Registry) visitor(r *http.Request) (actor, error) {
	session, err := g.c.Visitors.Visitor(r)
	a := actor{since: session.AuthTime}
	if err == nil {
		a.User, err = g.c.Users.User(r.Context(), session.UserID)
	}
	if errors.Is(err, storage.ErrNotFound) || err == nil && a.Disabled {
		return a, nobody
	}
	return a, err
}

// register is POST /api/console/capabilities/register (spec 4.8).
func (g *Registry) register(w http.ResponseWriter, r *http.Request) error {
	a, err := g.actor(r)
	if err != nil {
		return err
	}
	q, err := readRequest(w, r)
	if err != nil {
		return answer(w, err)
	}
	done, err := g.Register(r.Context(), a.User, q)
	if err != nil {
		return answer(w, err)
	}
	g.note(r, a.User, fmt.Sprintf("register %s %s %d", done.Member, done.Kind, done.ToolCount))
	return success(w, outcomeOf(done))
}

// preview is POST /api/console/capabilities/preview: the same request, and nothing stored.
func (g *Registry) preview(w http.ResponseWriter, r *http.Request) error {
	a, err := g.actor(r)
	if err != nil {
		return err
	}
	q, err := readRequest(w, r)
	if err != nil {
		return answer(w, err)
	}
	done, err := g.Preview(r.Context(), a.User, q)
	if err != nil {
		return answer(w, err)
	}
	return success(w, previewed{outcomeOf(done), Public(done.Tools), done.Lint})
}

// list is GET /api/console/capabilities.
func (g *Registry) list(w http.ResponseWriter, r *http.Request) error {
	a, err := g.actor(r)
	if err != nil {
		return err
	}
	all, err := g.List(r.Context(), a.User)
	if err != nil {
		return err
	}
	lines := make([]summary, len(all))
	for i, c := range all {
		lines[i] = summaryOf(c, g.OffBus(c))
	}
	return success(w, lines)
}

// one is GET and DELETE /api/console/capabilities/{member}.
func (g *Registry) one(w http.ResponseWriter, r *http.Request) error {
	a, err := g.actor(r)
	if err != nil {
		return err
	}
	member := r.PathValue("member")
	if r.Method == http.MethodDelete {
		if !stepup.Fresh(a.since, time.Now()) {
			return signInAgain
		}
		if err := g.Remove(r.Context(), a.User, member); err != nil {
			return err
		}
		g.note(r, a.User, "remove "+member)
		return success(w, map[string]string{"member": member})
	}
	c, err := g.Show(r.Context(), a.User, member)
	if err != nil {
		return err
	}
	return success(w, shownOf(c))
}

// note writes what was changed on the audit trail. A detail names the capability and no
// field of the request: some hold secrets.
func (g *Registry) note(r *http.Request, user storage.User, detail string) {
	if g.c.Audit == nil {
		return
	}
	e := visit.Event(r, storage.EventRegistration, g.c.ClientIP(r))
	e.User, e.Status, e.Detail = user.Sub, http.StatusOK, detail
	g.c.Audit.Note(e)
}
