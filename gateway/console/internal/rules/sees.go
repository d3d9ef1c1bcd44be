package rules

import (
	"net/http"
	"strings"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage/access"
)

// seen is a tool of the bus, and why somebody sees it or does not.
type seen struct {
	Tool    string `json:"tool"`
	Member  string `json:"-"`
	Allowed bool   `json:"allowed"`
	Because string `json:"because"`
	Rule    *rule  `json:"rule"` // nil: no rule decides
}

// answer holds what somebody sees.
type answer struct {
	User  string `json:"user"` // sub
	Role  string `json:"role"`
	App   string `json:"client_id"`
	Tier  string `json:"tier"`
	Tools []seen `json:"tools"`
	Next  string `json:"next"`

	Asked bool `json:"-"`
}

// pageTools bounds how many tools a page explains; the bus explains no more than 200 at once.
const pageTools = 100

// sees serves GET /api/console/visible: the tools of the bus, and what decides whether somebody sees them.
func (s *Rules) sees(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	q := r.URL.Query()
	v := access.Viewer{User: strings.TrimSpace(q.Get("user")), Role: q.Get("role"),
		App: strings.TrimSpace(q.Get("client_id")), Tier: q.Get("tier")}
	record := answer{Role: v.Role, App: v.App, Tier: v.Tier, Tools: []seen{}}
	onPage := strings.HasPrefix(r.URL.Path, "/console/")
	if v.User == "" && v.Role == "" && v.App == "" && v.Tier == "" {
		if onPage {
			return record, nil
		}
		return nil, notTyped
	}
	if err := s.identify(r, who, &v, &record); err != nil {
		return record, err // which the page is shown with if a field names nobody
	}
	after := q.Get("after")
	if len(after) > 200 {
		return nil, adminapi.BadQuery.Saying("after is the next of the page before, as it was sent")
	}
	all, next, err := s.c.Bus.Explain(r.Context(), v, after, pageTools)
	if err != nil {
		return nil, err
	}
	record.User, record.Next, record.Asked = v.User, next, true
	for _, one := range all {
		member, _, _ := strings.Cut(one.Tool, "__")
		line := seen{Tool: one.Tool, Member: member, Allowed: one.Allowed, Because: one.Because}
		if one.Rule != nil {
			because := ruleOf(*one.Rule)
			because.More += len(because.Tools)
			because.Tools = []string{}
			line.Rule = &because
		}
		record.Tools = append(record.Tools, line)
	}
	return record, nil
}

// identify looks up who was typed, and refuses roles and tiers that there are not.
func (s *Rules) identify(r *http.Request, who admin.Actor, v *access.Viewer, record *answer) error {
	for kind, name := range map[string]string{access.SubjectRole: v.Role, access.SubjectTier: v.Tier} {
		if name == "" {
			continue
		}
		if _, err := access.ParseSubject(kind + ":" + name); err != nil {
			return adminapi.BadQuery.Saying("there is no such " + kind)
		}
	}
	if v.User != "" {
		u, err := s.user(r.Context(), who, "user", v.User)
		if err != nil {
			return err
		}
		v.User = u.Sub
		if v.Role == "" && !u.Disabled {
			record.Role = u.Role
		}
	}
	if v.App != "" {
		app, err := s.app(r.Context(), who, "client_id", v.App)
		if err != nil {
			return err
		}
		v.App, record.App = app.ID, app.ID
	}
	return nil
}
