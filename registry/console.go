package registry

import (
	"errors"
	"fmt"
	"mime"
	"net/http"

	"github.com/keystile/keystile/internal/visit"
	"github.com/keystile/keystile/storage"
)

// actor returns who may register here, before anything of the body is read: 401 for nobody,
// 403 for who has no role for it or comes from another site's page, 400 for a body that is
// not JSON, in that order.
func (g *Registry) actor(r *http.Request) (storage.User, error) {
	session, err := g.c.Visitors.Visitor(r)
	if errors.Is(err, storage.ErrNotFound) {
		return storage.User{}, nobody
	}
	if err != nil {
		return storage.User{}, err
	}
	user, err := g.c.Store.User(r.Context(), session.UserID)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return user, nobody
	case err != nil:
		return user, err
	case user.Role != storage.RoleAdmin && user.Role != storage.RoleDeveloper:
		return user, notAllowed
	}
	if err := g.sameOrigin.Check(r); err != nil {
		return user, crossOrigin.Because(err)
	}
	if r.Method == http.MethodPost {
		if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
			return user, notJSON
		}
	}
	return user, nil
}

// register is POST /api/console/capabilities/register (spec 4.8).
func (g *Registry) register(w http.ResponseWriter, r *http.Request) error {
	user, err := g.actor(r)
	if err != nil {
		return err
	}
	q, err := readRequest(w, r)
	if err != nil {
		return answer(w, err)
	}
	done, err := g.Register(r.Context(), user, q)
	if err != nil {
		return answer(w, err)
	}
	g.note(r, user, fmt.Sprintf("register %s %s %d", done.Member, done.Kind, done.ToolCount))
	return success(w, outcome{done.Member, done.Kind, done.ToolCount, listed(done.Skipped), done.Warning})
}

// outcome is the data of a registration.
type outcome struct {
	Member    string         `json:"member"`
	Kind      string         `json:"kind"`
	ToolCount int            `json:"tool_count"`
	Skipped   []storage.Skip `json:"skipped"`
	Warning   string         `json:"warning,omitempty"`
}

// preview is POST /api/console/capabilities/preview: the same request, and nothing stored.
func (g *Registry) preview(w http.ResponseWriter, r *http.Request) error {
	if _, err := g.actor(r); err != nil {
		return err
	}
	q, err := readRequest(w, r)
	if err != nil {
		return answer(w, err)
	}
	done, err := g.Preview(r.Context(), q)
	if err != nil {
		return answer(w, err)
	}
	return success(w, previewed{
		outcome: outcome{done.Member, done.Kind, done.ToolCount, listed(done.Skipped), done.Warning},
		Tools:   visible(done.Tools), Lint: done.Lint,
	})
}

type previewed struct {
	outcome
	Tools []storage.Tool `json:"tools_static"`
	Lint  []string       `json:"lint,omitempty"`
}

// visible is tools as everyone may see them: without the plan.
func visible(tools []storage.Tool) []storage.Tool {
	out := make([]storage.Tool, len(tools))
	for i, t := range tools {
		t.Call = nil
		out[i] = t
	}
	return out
}

// summary is a line of the list.
type summary struct {
	Member       string `json:"member"`
	Label        string `json:"label"`
	Description  string `json:"description"`
	Kind         string `json:"kind"`
	AutoDiscover int    `json:"auto_discover"`
	UpstreamURL  string `json:"upstream_url"`
	AuthType     string `json:"auth_type"`
	Publish      bool   `json:"publish"`
	ToolCount    int    `json:"tool_count"`
}

func summaryOf(c storage.Capability) summary {
	e := summary{c.Member, c.Label, c.Description, c.Kind, 0, c.UpstreamURL, c.AuthType, c.Publish, c.ToolCount}
	if e.AuthType == "" {
		e.AuthType = "none"
	}
	if c.AutoDiscover() {
		e.AutoDiscover = 1
	}
	return e
}

// shown is one capability; its secrets never are.
type shown struct {
	summary
	WebhookURL string         `json:"webhook_url,omitempty"`
	Tools      []storage.Tool `json:"tools_static"`
	Skipped    []storage.Skip `json:"skipped"`
}

// list is GET /api/console/capabilities.
func (g *Registry) list(w http.ResponseWriter, r *http.Request) error {
	user, err := g.actor(r)
	if err != nil {
		return err
	}
	all, err := g.List(r.Context(), user)
	if err != nil {
		return err
	}
	lines := make([]summary, len(all))
	for i, c := range all {
		lines[i] = summaryOf(c)
	}
	return success(w, lines)
}

// one is GET and DELETE /api/console/capabilities/{member}.
func (g *Registry) one(w http.ResponseWriter, r *http.Request) error {
	user, err := g.actor(r)
	if err != nil {
		return err
	}
	member := r.PathValue("member")
	if r.Method == http.MethodDelete {
		if err := g.Remove(r.Context(), user, member); err != nil {
			return answer(w, err)
		}
		g.note(r, user, "remove "+member)
		return success(w, map[string]string{"member": member})
	}
	c, err := g.Show(r.Context(), user, member)
	if err != nil {
		return err
	}
	return success(w, shown{summaryOf(c.Capability), c.WebhookURL, visible(c.Tools), listed(c.Skipped)})
}

// note writes what was changed on the audit trail.
func (g *Registry) note(r *http.Request, user storage.User, detail string) {
	if g.c.Audit == nil {
		return
	}
	e := visit.Event(r, storage.EventRegistration, g.c.ClientIP(r))
	e.User, e.Status, e.Detail = user.Sub, http.StatusOK, detail
	g.c.Audit.Note(e)
}
