package people

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/useracts"
	"github.com/keystile/keystile/storage"
)

// grantRecord shows an application that a user has signed in to, or allowed something.
type grantRecord struct {
	ClientID string `json:"client_id"`
	Name     string `json:"name"`
	Scope    string `json:"scope"` // "": the user was not asked
	Since    string `json:"since"`
}

// grantList holds the newest grants of a user.
type grantList struct {
	Username string        `json:"-"` // for the page
	Sub      string        `json:"sub"`
	Consents []grantRecord `json:"consents"`
}

// listGrants serves GET /api/console/users/{sub}/consents.
func (s *People) listGrants(_ http.ResponseWriter, r *http.Request, _ admin.Actor) (any, error) {
	u, all, err := s.grants(r.Context(), r.PathValue("sub"))
	return grantList{u.Username, u.Sub, all}, err
}

// grants returns a user, and the newest of their grants.
func (s *People) grants(ctx context.Context, sub string) (storage.User, []grantRecord, error) {
	u, given, met, err := s.c.Store.UserGrants(ctx, sub)
	if err != nil {
		return u, nil, adminapi.Refusal(err, noUser)
	}
	rows := []grantRecord{}
	for _, c := range given {
		rows = append(rows, grantRecord{ClientID: c.AppID, Scope: textOf(c.Scope),
			Since: c.CreatedAt.UTC().Format(adminapi.ISO8601)})
	}
	for _, o := range met {
		known := func(g grantRecord) bool { return g.ClientID == o.AppID }
		if o.EndedAt.IsZero() && !slices.ContainsFunc(rows, known) {
			rows = append(rows, grantRecord{ClientID: o.AppID, Since: o.CreatedAt.UTC().Format(adminapi.ISO8601)})
		}
	}
	slices.SortFunc(rows, func(x, y grantRecord) int {
		return cmp.Or(cmp.Compare(y.Since, x.Since), cmp.Compare(x.ClientID, y.ClientID))
	})
	rows = rows[:min(len(rows), maxRows)]
	var ids []string
	for _, g := range rows {
		ids = append(ids, g.ClientID)
	}
	names, _, err := s.c.Names.Of(ctx, storage.User{}, ids, nil)
	for i := range rows {
		rows[i].Name = names[rows[i].ClientID]
	}
	return u, rows, err
}

// withdraw serves DELETE /api/console/users/{sub}/consents/{client_id}, and withdraws several that a
// form names.
func (s *People) withdraw(w http.ResponseWriter, r *http.Request, who admin.Actor, u storage.User) (any, error) {
	ids, err := chosen(w, r, "client_id")
	if err != nil {
		return nil, err
	}
	return s.withdrawn(r, who, map[string][]string{u.Sub: ids})
}

// withdrawn withdraws what users, by sub, have allowed the named applications. If one of the grants
// is not there, none ends.
func (s *People) withdrawn(r *http.Request, who admin.Actor, by map[string][]string) (any, error) {
	var some []useracts.Grant
	for sub, apps := range by {
		for _, app := range apps {
			some = append(some, useracts.Grant{Sub: sub, App: app})
		}
	}
	return ending(len(some), s.acts.WithdrawGrants(r.Context(), who, some...), noGrant)
}
