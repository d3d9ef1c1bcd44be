package overview

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/cookies"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
)

// step is something to begin with.
type step struct {
	Kind string `json:"kind"` // app, capability, tool, agent, invite or second_factor
	Path string `json:"path"` // of the page where it is done
	Done bool   `json:"done"`
}

const (
	newApp    = "/console/apps/new"
	importAPI = "/console/capabilities/new"
	allAPIs   = "/console/capabilities"
	newUser   = "/console/users/new"
	toConnect = "/console/#connect" // on this page
)

// begun tells which of the steps that concern the whole service are done. They are read with what changes slowly.
type begun struct {
	capability string // the member of one; "": there is none
	tool       bool   // one was called in the last days
	agent      bool   // one was allowed something, or has called
}

// steps returns what there is to begin with for an administrator.
func (s *Overview) steps(v *service, is begun) []step {
	all := []step{{"app", newApp, v.Apps > 0}}
	if s.c.WhyUnlisted != nil {
		try := allAPIs
		if is.capability != "" {
			try += "/" + url.PathEscape(is.capability)
		}
		all = append(all, step{"capability", importAPI, is.capability != ""}, step{"tool", try, is.tool})
	}
	if s.c.Agents {
		all = append(all, step{"agent", toConnect, is.agent})
	}
	if s.c.Invites {
		all = append(all, step{"invite", newUser, v.Users > 1})
	}
	return all
}

// finished returns the steps with that of a second factor, and none once all are done.
func (s *Overview) finished(all []step, who admin.Actor) []step {
	if len(all) > 0 && s.c.FactorsPath != "" {
		all = append(all, step{"second_factor", s.c.FactorsPath, who.Multifactor})
	}
	if !slices.ContainsFunc(all, func(one step) bool { return !one.Done }) {
		return []step{}
	}
	return all
}

// begins reads which steps of the whole service are done. Where the calls of today say so, those of the month before
// are not read: they are rankings of each day, and today's among them.
func (s *Overview) begins(ctx context.Context, now time.Time, all []storage.Capability, today *summary,
	lacks func(error) bool) (is begun) {
	if len(all) > 0 {
		is.capability = all[0].Member
	}
	if s.c.Agents {
		clients, _, err := s.c.Store.Clients(ctx, "", readClients)
		lacks(err)
		is.agent = slices.ContainsFunc(clients, func(a storage.App) bool {
			return a.Client != nil && !a.Client.KeptAt.IsZero()
		})
	}
	is.agent = is.agent || slices.ContainsFunc(today.topApps, func(one name) bool { return isAgent(one.ID) })
	is.tool = len(today.topTools) > 0
	if s.c.Reader == nil {
		return is
	}
	month := usage.TopQuery{Of: usage.Tools, From: now.AddDate(0, 0, 1-usage.MaxTopDays), To: now, N: 1}
	if !is.tool {
		tools, err := s.c.Reader.Top(ctx, month)
		lacks(err)
		is.tool = len(tools) > 0
	}
	if !is.agent {
		month.Of, month.N = usage.Apps, 100
		apps, err := s.c.Reader.Top(ctx, month)
		lacks(err)
		is.agent = slices.ContainsFunc(apps, func(one usage.TopEntry) bool { return isAgent(one.Name) })
	}
	return is
}

// isAgent reports whether calls of an application are those of an agent that nobody registered, or by an API key.
func isAgent(id string) bool {
	return id == storage.KeysAppID || client.IsID(id) || strings.HasPrefix(id, client.DocumentPrefix)
}

// page is show for people, who may put the first steps away, and have them back: a cookie says so, and the store does
// not grow with those who look.
func (s *Overview) page(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	out, err := s.show(w, r, who)
	if err != nil {
		return nil, err
	}
	v := out.(record)
	c, err := r.Cookie(cookies.Begin)
	v.Away = err == nil && c.Value == "away"
	if asked := r.URL.Query().Get("begin"); asked == "away" || asked == "show" {
		v.Away = asked == "away"
		http.SetCookie(w, &http.Cookie{Name: cookies.Begin, Value: asked, Path: ui.Root, MaxAge: 365 * 86400, HttpOnly: true,
			SameSite: http.SameSiteLaxMode})
	}
	return v, nil
}

// Begin returns the steps that are shown to people.
func (r record) Begin() []step {
	if r.Away {
		return nil
	}
	return r.Steps
}

// Connects reports whether an agent is still to be connected: then its lines are shown.
func (r record) Connects() bool {
	return slices.ContainsFunc(r.Begin(), func(one step) bool { return one.Kind == "agent" && !one.Done })
}

// Ticked returns how many of the steps are done.
func (r record) Ticked() (n int) {
	for _, one := range r.Steps {
		if one.Done {
			n++
		}
	}
	return n
}
