package people

import (
	"context"
	"net/http"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
)

// memberRecord shows a group that a user is a member of.
type memberRecord struct {
	Group string `json:"group"`
	By    string `json:"by"` // the connector that has added them, and removes them; "": somebody did by hand
	Since string `json:"since"`
}

// membershipList holds the groups of a user, of which there are 200 at most.
type membershipList struct {
	Username string         `json:"-"` // for the page
	Sub      string         `json:"sub"`
	Groups   []memberRecord `json:"groups"`
}

// listGroups serves GET /api/console/users/{sub}/groups.
func (s *People) listGroups(_ http.ResponseWriter, r *http.Request, _ admin.Actor, u storage.User) (any, error) {
	all, err := s.memberships(r.Context(), u.Sub)
	return membershipList{u.Username, u.Sub, all}, err
}

func (s *People) memberships(ctx context.Context, sub string) ([]memberRecord, error) {
	in, err := s.c.Store.Memberships(ctx, sub)
	all := []memberRecord{}
	for _, m := range in {
		all = append(all, memberRecord{m.Group, m.By, m.At.UTC().Format(adminapi.ISO8601)})
	}
	return all, err
}
