package people

import (
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/handle"
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
	page := struct{ Uninvited string }{}
	if err := s.c.Ways.CheckInvitation(); err != nil {
		page.Uninvited = manage.Plain(err)
	}
	return page, nil
}

// invite serves POST /api/console/invitations.
func (s *People) invite(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	f, err := manage.ReadFields(w, r, "role", "days")
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
	if days < 1 || days > int(storage.MaxInvitationLife/(24*time.Hour)) {
		return nil, manage.BadBody.Saying("days is a number from 1 to 90")
	}
	if err := s.c.Ways.CheckInvitation(); err != nil {
		return nil, manage.Refusal(err, noUser)
	}
	code, now := handle.NewInvitation(), time.Now().UTC()
	i, err := s.c.Store.SaveInvitation(r.Context(), storage.Invitation{
		ID: handle.HashInvitation(code), Role: role, CreatedAt: now, ExpiresAt: now.AddDate(0, 0, days),
	})
	if err != nil {
		return nil, manage.Refusal(err, noUser)
	}
	ends := i.ExpiresAt.Format(manage.ISO8601)
	act := admin.Act{What: "user invite", On: i.ID[:12], Changes: []string{`role "" -> "` + role + `"`, "expires_at none -> " + ends}}
	return invitationRecord{code, i.Role, ends, s.c.InvitationPage}, s.c.Recorder.Note(r.Context(), who, act)
}
