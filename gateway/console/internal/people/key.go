package people

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/apikey"
)

// keyRecord shows an API key by its hash, as the command line and the trail do.
type keyRecord struct {
	ID        string  `json:"id"`
	Name      string  `json:"name"`
	Scope     string  `json:"scope"`
	CreatedAt string  `json:"created_at"`
	UsedAt    *string `json:"used_at"` // to the hour
	ExpiresAt string  `json:"expires_at"`
}

// keyList holds the newest valid API keys of a user.
type keyList struct {
	Username string      `json:"-"` // for the page
	Sub      string      `json:"sub"`
	Keys     []keyRecord `json:"keys"`
}

// listKeys serves GET /api/console/users/{sub}/keys.
func (s *People) listKeys(_ http.ResponseWriter, r *http.Request, _ admin.Actor, u storage.User) (any, error) {
	all, err := s.keys(r.Context(), u.Sub)
	return keyList{u.Username, u.Sub, all}, err
}

func (s *People) keys(ctx context.Context, sub string) ([]keyRecord, error) {
	all, err := s.c.Store.APIKeys(ctx, sub)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(x, y apikey.Key) int {
		return cmp.Or(y.CreatedAt.Compare(x.CreatedAt), cmp.Compare(x.ID, y.ID))
	})
	rows := []keyRecord{}
	for _, k := range all {
		if k.Live(time.Now()) && len(rows) < maxRows {
			rows = append(rows, keyRecord{k.ID, k.Name, textOf(k.Scope), k.CreatedAt.UTC().Format(adminapi.ISO8601),
				adminapi.Stamp(k.UsedAt), k.ExpiresAt.UTC().Format(adminapi.ISO8601)})
		}
	}
	return rows, nil
}

// revokeKeys serves DELETE /api/console/users/{sub}/keys/{id}, and revokes several that a form names.
func (s *People) revokeKeys(w http.ResponseWriter, r *http.Request, who admin.Actor, u storage.User) (any, error) {
	ids, err := chosen(w, r, "id")
	if err != nil {
		return nil, err
	}
	all, err := s.c.Store.APIKeys(r.Context(), u.Sub)
	if err != nil {
		return nil, err
	}
	var some []apikey.Key
	for _, id := range ids {
		i := slices.IndexFunc(all, func(k apikey.Key) bool { return k.ID == id })
		if i < 0 {
			return nil, noKey
		}
		some = append(some, all[i])
	}
	return ending(len(some), s.acts.RevokeKeys(r.Context(), who, some...), noKey)
}
