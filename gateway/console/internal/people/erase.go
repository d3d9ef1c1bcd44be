package people

import (
	"errors"
	"net/http"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/useracts"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/users"
)

// erasedRecord counts what was removed with a user, and holds none of it.
type erasedRecord struct {
	Sub      string `json:"sub"`
	Erased   bool   `json:"erased"`
	Sessions int    `json:"sessions"`
	Logins   int    `json:"logins"`
	Keys     int    `json:"keys"`
	Consents int    `json:"consents"`
	OpenIDs  int    `json:"openids"`
}

var (
	// decision 57
	notNamed = &reply.Failure{Status: 400, Msg: "type the username or the sub exactly, to erase the user"}
	// protocol 7
	notOneself = &reply.Failure{Status: 409, Msg: "you cannot erase yourself here: another administrator can, or " +
		"whoever is at the data folder, with: keystile user erase USERNAME"}
	// protocol 7
	owner = &reply.Failure{Status: 409, Msg: "the user owns applications or capabilities"}
)

// eraseNamed erases a user whose username or sub was typed.
func (s *People) eraseNamed(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	typed, err := adminapi.ReadText(w, r, "confirm", "")
	if err != nil {
		return nil, err
	}
	u, err := s.subject(r)
	if err != nil {
		return nil, err
	}
	if typed != u.Username && typed != u.Sub {
		return nil, &ui.Mistyped{Failure: notNamed, Field: "confirm"}
	}
	return s.erase(w, adminapi.WithFields(r, adminapi.Fields{}), who)
}

// erase serves DELETE /api/console/users/{sub}. An erasure that breaks off leaves a disabled user,
// and is done again.
func (s *People) erase(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	if err := adminapi.NoFields(w, r); err != nil {
		return nil, err
	}
	u, err := s.subject(r)
	if err != nil {
		return nil, err
	}
	e, err := s.acts.Erase(r.Context(), who, u.Sub)
	owns := (*users.Owner)(nil)
	switch {
	case errors.Is(err, useracts.ErrOneself):
		return nil, notOneself
	case errors.As(err, &owns):
		return nil, owner.Saying(owns.Error())
	case err != nil:
		return nil, adminapi.Refusal(err, noUser)
	}
	return erasedRecord{u.Sub, true, e.Sessions, e.Logins, e.APIKeys, e.Consents, e.OpenIDs}, nil
}
