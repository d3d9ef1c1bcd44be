package people

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
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
		return u, nil, manage.Refusal(err, noUser)
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
	var ids []string
	for _, g := range rows {
		ids = append(ids, g.ClientID)
	}
	names, _, err := s.names.of(ctx, ids, nil)
	for i := range rows {
		rows[i].Name = names[rows[i].ClientID]
	}
	return u, rows, err
}

// withdraw serves DELETE /api/console/users/{sub}/consents/{client_id}, and withdraws several that a
// form names.
func (s *People) withdraw(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	u, err := s.subject(r)
	if err != nil {
		return nil, err
	}
	ids, err := chosen(w, r, "client_id")
	if err != nil {
		return nil, err
	}
	some, err := s.withdrawals(r.Context(), u.Sub, ids)
	if err != nil {
		return nil, err
	}
	return s.end(r, who, "user grant withdraw", grantNotice, some)
}

const grantNotice = "access of an application removed by an administrator"

// withdrawals finds what a user has allowed the named applications.
func (s *People) withdrawals(ctx context.Context, sub string, apps []string) (some []ending, err error) {
	for _, app := range apps {
		met, err := s.c.Store.OpenID(ctx, app, sub)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return nil, err
		}
		connected := err == nil && met.EndedAt.IsZero()
		was, err := s.c.Store.Consent(ctx, app, sub)
		switch {
		case errors.Is(err, storage.ErrNotFound) && !connected:
			return nil, noGrant
		case err != nil && !errors.Is(err, storage.ErrNotFound):
			return nil, err
		}
		some = append(some, s.withdrawal(sub, app, was.Scope, connected))
	}
	return some, nil
}

// withdrawal ends the consent first and the tokens after, as the account page does: what is being
// granted meanwhile does not escape, and the application stays listed until all of it is stored.
func (s *People) withdrawal(sub, app, scope string, connected bool) ending {
	e := ending{sub: sub, change: "grant of " + app + " \"" + textOf(scope) + "\" -> none"}
	var now time.Time
	e.do = func(ctx context.Context) error {
		_, err := storage.RetryOnConflict(ctx, func() (storage.Consent, error) {
			c, err := s.c.Store.Consent(ctx, app, sub)
			if err == nil {
				err = s.c.Store.EndConsent(ctx, c)
			}
			return c, err
		})
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return err
		}
		now = time.Now().UTC()
		return s.c.Revoke(ctx, driver.Revocation{Kind: driver.RevokeConsent, ID: driver.ConsentID(app, sub)})
	}
	if connected {
		e.then = func(ctx context.Context) error { return s.c.Store.EndOpenID(ctx, app, sub, now) }
	}
	return e
}
