package people

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/storage"
)

// foundGrant shows a grant of one of many users.
type foundGrant struct {
	Sub      string `json:"sub"`
	Username string `json:"username"` // "": it was not read
	grantRecord
}

// foundGrants is a page of grants.
type foundGrants struct {
	Grants []foundGrant `json:"grants"`
	Next   string       `json:"next"`
}

// findGrants serves GET /api/console/grants?user=&client_id=&after=.
func (s *People) findGrants(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	user, app := adminapi.QueryOf(r, "user"), adminapi.QueryOf(r, "client_id")
	if user == "" && app == "" {
		return nil, adminapi.BadQuery.Saying("say whose: user is a sub or a username, client_id an application")
	}
	ctx, all := r.Context(), foundGrants{Grants: []foundGrant{}}
	from, err := adminapi.FromPlace(r)
	if err != nil || len(user) > adminapi.MaxQuery || len(app) > adminapi.MaxQuery {
		return nil, cmp.Or(err, error(adminapi.BadQuery.Saying("user and client_id are texts of up to 1000 bytes")))
	}
	sub := ""
	if user != "" {
		if sub, err = s.c.Finder.Sub(ctx, who, "user", user); err != nil {
			return all, err
		}
	}
	if app != "" {
		if app, err = s.appID(ctx, who, app); err != nil {
			return all, err
		}
	}
	page, next, err := s.consents(r, sub, app, from)
	if err != nil {
		return nil, adminapi.Refusal(err, noUser)
	}
	slices.SortFunc(page, func(x, y storage.Consent) int {
		return cmp.Or(y.CreatedAt.Compare(x.CreatedAt), cmp.Compare(x.AppID+"="+x.UserID, y.AppID+"="+y.UserID))
	})
	var apps, subs []string
	for _, c := range page {
		all.Grants = append(all.Grants,
			foundGrant{c.UserID, "", grantRecord{ClientID: c.AppID, Scope: textOf(c.Scope),
				Since: c.CreatedAt.UTC().Format(adminapi.ISO8601)}})
		apps, subs = append(apps, c.AppID), append(subs, c.UserID)
	}
	called, names, err := s.c.Names.Of(ctx, who.User, apps, subs)
	for i, g := range all.Grants {
		all.Grants[i].Name, all.Grants[i].Username = called[g.ClientID], names[g.Sub]
	}
	all.Next = adminapi.PlaceOf(next)
	return all, err
}

// appID returns the client_id of the application that is named: what may have been allowed to one that nobody
// registered, and that is gone, is named by its client_id alone.
func (s *People) appID(ctx context.Context, who admin.Actor, typed string) (string, error) {
	id, err := s.c.Finder.AppID(ctx, who, "client_id", typed)
	if err != nil && appacts.IsClientID(typed) {
		return typed, nil
	}
	return id, err
}

// consents reads a page of what a user, or all, have allowed an application, or all.
func (s *People) consents(r *http.Request, sub, app, from string) ([]storage.Consent, string, error) {
	switch {
	case sub == "":
		return s.c.Store.ConsentsOfApp(r.Context(), app, from, adminapi.PageSize)
	case app == "":
		return s.c.Store.ConsentsOf(r.Context(), sub, from, adminapi.PageSize)
	}
	c, err := s.c.Store.Consent(r.Context(), app, sub)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, "", nil
	}
	return []storage.Consent{c}, "", err
}

// showGrants serves the page, which asks first whose grants to show.
func (s *People) showGrants(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	if adminapi.QueryOf(r, "user") == "" && adminapi.QueryOf(r, "client_id") == "" {
		return foundGrants{}, nil
	}
	return s.findGrants(w, r, who)
}

// withdrawFound serves POST /api/console/grants/withdraw.
func (s *People) withdrawFound(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	by, err := chosenOf(w, r)
	if err != nil {
		return nil, err
	}
	return s.withdrawn(r, who, by)
}
