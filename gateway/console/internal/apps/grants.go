package apps

import (
	"context"
	"net/http"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// grantsPerPage bounds a page of grants, and what is counted of them.
const grantsPerPage = 50

// grantRecord shows what a user has allowed an application.
type grantRecord struct {
	Sub       string `json:"sub"`
	Scope     string `json:"scope"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

// grantList is a page of grants.
type grantList struct {
	ClientID string        `json:"client_id"`
	Name     string        `json:"name"`
	Consents []grantRecord `json:"consents"`
	Next     string        `json:"next"` // send it as after for more; "": there is no more

	Owner     string `json:"-"` // a user's sub, for the page
	admission `json:"-"`
}

// listGrants serves GET /api/console/apps/{client_id}/consents?after=.
func (s *Apps) listGrants(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	after, err := adminapi.AfterOf(r)
	if err != nil {
		return nil, err
	}
	app, err := s.readable(r.Context(), who, r.PathValue("client_id"))
	if err != nil {
		return nil, err
	}
	from := ""
	if after != "" {
		from = driver.After("app="+app.ID, app.ID+"="+after)
	}
	page, next, err := s.c.Store.ConsentsOfApp(r.Context(), app.ID, from, grantsPerPage)
	if err != nil {
		return nil, err
	}
	v := grantList{ClientID: app.ID, Name: app.Name, Owner: app.Owner, Consents: []grantRecord{},
		admission: admissionOf(app)}
	if next != "" {
		v.Next = page[len(page)-1].UserID
	}
	for _, c := range page {
		v.Consents = append(v.Consents, grantRecord{c.UserID, c.Scope, c.CreatedAt.UTC().Format(adminapi.ISO8601),
			c.UpdatedAt.UTC().Format(adminapi.ISO8601)})
	}
	return v, nil
}

// goesAlong tells what is removed with an application, of one page's grants.
type goesAlong struct {
	Order  string // the id of its open order, "" for none
	Grants int
	More   bool // there are more grants
}

func (s *Apps) goesAlong(ctx context.Context, a storage.App) (goesAlong, error) {
	page, next, err := s.c.Store.ConsentsOfApp(ctx, a.ID, "", grantsPerPage)
	return goesAlong{a.Order, len(page), next != ""}, err
}
