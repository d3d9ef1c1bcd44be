package people

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
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
	Sub      string        `json:"sub"`
	Consents []grantRecord `json:"consents"`
}

// listGrants serves GET /api/console/users/{sub}/consents.
func (s *People) listGrants(_ http.ResponseWriter, r *http.Request, _ consoleauth.Actor) (any, error) {
	u, err := s.subject(r)
	if err != nil {
		return nil, err
	}
	all, err := s.grants(r.Context(), u.Sub)
	return grantList{u.Sub, all}, err
}

func (s *People) grants(ctx context.Context, sub string) ([]grantRecord, error) {
	given, err := s.c.Store.Consents(ctx, sub)
	if err != nil {
		return nil, err
	}
	met, err := s.c.Store.OpenIDs(ctx, sub)
	if err != nil {
		return nil, err
	}
	rows := []grantRecord{}
	for _, c := range given {
		rows = append(rows, grantRecord{ClientID: c.AppID, Scope: textOf(c.Scope), Since: c.CreatedAt.UTC().Format(manage.ISO8601)})
	}
	for _, o := range met {
		known := func(g grantRecord) bool { return g.ClientID == o.AppID }
		if o.EndedAt.IsZero() && !slices.ContainsFunc(rows, known) {
			rows = append(rows, grantRecord{ClientID: o.AppID, Since: o.CreatedAt.UTC().Format(manage.ISO8601)})
		}
	}
	slices.SortFunc(rows, func(x, y grantRecord) int {
		return cmp.Or(cmp.Compare(y.Since, x.Since), cmp.Compare(x.ClientID, y.ClientID))
	})
	rows = rows[:min(len(rows), maxRows)]
	for i := range rows {
		app, err := s.c.Store.App(ctx, rows[i].ClientID)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return nil, err
		}
		rows[i].Name = app.Name
	}
	return rows, nil
}

// withdraw serves DELETE /api/console/users/{sub}/consents/{client_id}, and withdraws several that a
// form names.
func (s *People) withdraw(w http.ResponseWriter, r *http.Request, who consoleauth.Actor) (any, error) {
	u, err := s.subject(r)
	if err != nil {
		return nil, err
	}
	ids, err := chosen(w, r, "client_id")
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if err := s.withdrawOne(r, who, u, id); err != nil {
			return nil, err
		}
	}
	return ended{len(ids)}, nil
}

// withdrawOne ends the consent first and the tokens after, as the account page does: what is being
// granted meanwhile does not escape, and the application stays listed until all of it is stored.
func (s *People) withdrawOne(r *http.Request, who consoleauth.Actor, u storage.User, app string) error {
	ctx := r.Context()
	met, err := s.c.Store.OpenID(ctx, app, u.Sub)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	connected := err == nil && met.EndedAt.IsZero()
	was, err := storage.RetryOnConflict(ctx, func() (storage.Consent, error) {
		c, err := s.c.Store.Consent(ctx, app, u.Sub)
		if err == nil {
			err = s.c.Store.EndConsent(ctx, c)
		}
		return c, err
	})
	switch {
	case errors.Is(err, storage.ErrNotFound) && !connected:
		return noGrant
	case err != nil && !errors.Is(err, storage.ErrNotFound):
		return err
	}
	now := time.Now().UTC()
	if err := s.c.Revoke(ctx, driver.Revocation{Kind: driver.RevokeConsent, ID: driver.ConsentID(app, u.Sub), Before: now}); err != nil {
		return err
	}
	if err := s.told(r, who, u, "user grant withdraw", "access of an application removed by an administrator", "grant of "+app+" \""+textOf(was.Scope)+"\" -> none"); err != nil {
		return err
	}
	if !connected {
		return nil
	}
	return s.c.Store.EndOpenID(ctx, app, u.Sub, now)
}
