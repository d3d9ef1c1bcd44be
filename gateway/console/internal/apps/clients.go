package apps

import (
	"net/http"
	"net/url"
	"time"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// clientRecord shows an application that nobody registered. All that it says of itself is a claim.
type clientRecord struct {
	ClientID     string   `json:"client_id"`
	Name         string   `json:"name"`
	Kind         string   `json:"kind"`
	Host         string   `json:"host"` // of its metadata document; "": it has registered itself
	RedirectURIs []string `json:"redirect_uris"`
	Disabled     bool     `json:"disabled"`
	CreatedAt    string   `json:"created_at"`
	KeptAt       *string  `json:"kept_at"`    // when a user first consented to it
	ExpiresAt    *string  `json:"expires_at"` // until then nobody has
}

// listClients serves GET /api/console/clients?after=.
func (s *Apps) listClients(w http.ResponseWriter, r *http.Request, _ admin.Actor) (any, error) {
	after, from := r.URL.Query().Get("after"), ""
	if after != "" {
		if !appacts.IsClientID(after) {
			return nil, adminapi.BadQuery.Saying("after is the next of the page before, as it was sent")
		}
		from = driver.After("client", after)
	}
	page, next, err := s.c.Store.Clients(r.Context(), from, adminapi.PageSize)
	if err != nil {
		return nil, err
	}
	all, now := []clientRecord{}, time.Now()
	for _, a := range page {
		if a.Live(now) {
			all = append(all, clientRecordOf(a))
		}
	}
	if next != "" {
		next = page[len(page)-1].ID
	}
	return struct {
		Clients []clientRecord `json:"clients"`
		Next    string         `json:"next"` // send it as after for more; "": there is no more
	}{all, next}, nil
}

func clientRecordOf(a storage.App) clientRecord {
	return clientRecord{
		ClientID: a.ID, Name: a.Name, Kind: a.Client.Kind, Host: a.Host(),
		RedirectURIs: append([]string{}, a.Client.RedirectURIs...), Disabled: a.Disabled,
		CreatedAt: a.CreatedAt.UTC().Format(adminapi.ISO8601), KeptAt: timeOf(a.Client.KeptAt),
		ExpiresAt: timeOf(a.Client.ExpiresAt),
	}
}

// Kept returns when a user first consented to it, "" if nobody has.
func (c clientRecord) Kept() string { return textOf(c.KeptAt) }

// Ends returns when it ends, "" if it does not.
func (c clientRecord) Ends() string { return textOf(c.ExpiresAt) }

// Path returns the address of its page.
func (c clientRecord) Path() string { return "/console/clients/show?id=" + url.QueryEscape(c.ClientID) }

func textOf(stamp *string) string {
	if stamp == nil {
		return ""
	}
	return *stamp
}

// timeOf returns a time as the API writes it; nil for none.
func timeOf(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	return new(at.UTC().Format(adminapi.ISO8601))
}
