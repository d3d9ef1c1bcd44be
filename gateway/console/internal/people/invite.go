package people

import (
	"net/http"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
)

// invitationRecord shows an invitation this once.
type invitationRecord struct {
	Invitation string `json:"invitation"`
	Role       string `json:"role"`
	ExpiresAt  string `json:"expires_at"`
	Page       string `json:"page"` // where it is used
}

// showNew serves the page of a new user, which says why nobody can be invited where that is so.
func (s *People) showNew(http.ResponseWriter, *http.Request, admin.Actor) (any, error) {
	page := struct {
		Makes     bool
		Uninvited string
	}{Makes: s.c.Acts.Create != nil}
	if err := s.c.Acts.Ways.CheckInvitation(); err != nil {
		page.Uninvited = adminapi.Plain(err)
	}
	return page, nil
}

// invite serves POST /api/console/invitations.
func (s *People) invite(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	f, err := adminapi.ReadFields(w, r, "role", "days")
	if err != nil {
		return nil, err
	}
	role, days := "", 7
	if err := f.Read("role", "a text", &role); err != nil {
		return nil, err
	}
	if err := f.Read("days", "a whole number", &days); err != nil {
		return nil, err
	}
	code, i, err := s.acts.Invite(r.Context(), who, role, days)
	if err != nil {
		return nil, adminapi.Refusal(err, noUser)
	}
	return invitationRecord{code, i.Role, i.ExpiresAt.Format(adminapi.ISO8601), s.c.InvitationPage}, nil
}
