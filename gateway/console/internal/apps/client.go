package apps

import (
	"errors"
	"net/http"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/storage"
)

// clientFacts shows all of an application that nobody registered.
type clientFacts struct {
	clientRecord
	Grants     []string `json:"grant_types"`
	AuthMethod string   `json:"token_endpoint_auth_method"`
	KeysURL    string   `json:"jwks_uri"`
	From       string   `json:"from"` // the network that registered it
	FetchedAt  *string  `json:"fetched_at"`
	FreshUntil *string  `json:"fresh_until"` // until then its document is not read again
	HostPolicy string   `json:"host_policy"` // trusted, denied; "": the configuration decides, or it has no host
	UpdatedAt  string   `json:"updated_at"`
	admission
}

// showClient serves GET /api/console/clients/show?id=.
func (s *Apps) showClient(_ http.ResponseWriter, r *http.Request, _ admin.Actor) (any, error) {
	app, err := appacts.ClientOf(r.Context(), s.c.Store, r.URL.Query().Get("id"))
	if err != nil {
		return nil, adminapi.Refusal(err, noClient)
	}
	return s.factsOf(r, app)
}

func (s *Apps) factsOf(r *http.Request, app storage.App) (any, error) {
	c := app.Client
	v := clientFacts{
		clientRecord: clientRecordOf(app), Grants: append([]string{}, c.Grants...), AuthMethod: c.AuthMethod,
		KeysURL: c.KeysURL, From: c.From,
		FetchedAt: timeOf(c.FetchedAt), FreshUntil: timeOf(c.FreshUntil),
		UpdatedAt: app.UpdatedAt.UTC().Format(adminapi.ISO8601), admission: admissionOf(app),
	}
	if v.Host == "" {
		return v, nil
	}
	h, err := s.c.Store.ClientHost(r.Context(), v.Host)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return nil, err
	}
	v.HostPolicy = h.Policy()
	return v, nil
}
