package people

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strings"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// passwordRecord shows a new password this once.
type passwordRecord struct {
	Sub      string `json:"sub"`
	Username string `json:"username"`
	Password string `json:"password"`
}

var (
	noPassword  = &reply.Failure{Status: 409, Msg: "the user does not sign in with a password"}                       // protocol 7
	ownPassword = &reply.Failure{Status: 409, Msg: "change your own password on the page of your account"}            // protocol 7
	notHere     = &reply.Failure{Status: 404, Msg: "passwords are not kept here: they are where the users come from"} // protocol 7
)

// givePassword serves POST /api/console/users/{sub}/password: a password that is drawn here, in the place of
// a forgotten one. As when users change theirs, all their sessions and grants end, and they are told. The
// password is saved first: from then on the old one begins no session that the revocation would miss.
func (s *People) givePassword(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	u, err := s.subject(r)
	if err != nil {
		return nil, err
	}
	if _, err := manage.ReadFields(w, r); err != nil {
		return nil, err
	}
	switch {
	case s.c.SetPassword == nil:
		return nil, notHere
	case u.Sub == who.Sub:
		return nil, ownPassword
	}
	password := strings.ToLower(rand.Text())
	err = s.c.SetPassword(r.Context(), u.Sub, password)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, noPassword
	}
	if err != nil {
		return nil, manage.Refusal(err, noUser)
	}
	failed := s.signOut(r.Context(), u.Sub)
	err = s.told(r, who, u, "user password", "your password was changed by an administrator, and you were signed out everywhere", "password -> changed", "sessions and grants -> ended")
	return passwordRecord{u.Sub, u.Username, password}, errors.Join(failed, err)
}
