package people

import (
	"crypto/rand"
	"errors"
	"net/http"
	"strings"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/useracts"
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
	// protocol 7
	noPassword = &reply.Failure{Status: 409, Msg: "the user does not sign in with a password"}
	// protocol 7
	ownPassword = &reply.Failure{Status: 409, Msg: "change your own password on the page of your account"}
	// protocol 7
	notMade = &reply.Failure{Status: 404, Msg: "users are not made here: they are where the users come from"}
	// protocol 7
	notHere = &reply.Failure{Status: 404, Msg: "passwords are not kept here: they are where the users come from"}
)

// givePassword serves POST /api/console/users/{sub}/password: a password that is drawn here, in the place of
// a forgotten one. As when users change theirs, all their sessions and grants end, and they are told.
func (s *People) givePassword(w http.ResponseWriter, r *http.Request, who admin.Actor, u storage.User) (any, error) {
	if _, err := adminapi.ReadFields(w, r); err != nil {
		return nil, err
	}
	if s.c.Acts.SetPassword == nil {
		return nil, notHere
	}
	password := strings.ToLower(rand.Text())
	_, err := s.acts.Set(r.Context(), who, u.Sub, useracts.Change{Password: &password})
	switch {
	case errors.Is(err, useracts.ErrOneself):
		return nil, ownPassword
	case errors.Is(err, useracts.ErrNoPassword):
		return nil, noPassword
	}
	return passwordRecord{u.Sub, u.Username, password}, adminapi.Refusal(err, noUser)
}
