package people

import (
	"context"
	"errors"
	"net/http"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/users"
	"github.com/keystile/keystile/storage/event"
)

// erasedRecord says what was removed with a user, and nothing of who they were.
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
	notNamed   = &reply.Failure{Status: 400, Msg: "type the username or the sub exactly, to erase the user"}                                                                         // decision 57
	notOneself = &reply.Failure{Status: 409, Msg: "you cannot erase yourself here: another administrator can, or whoever is at the data folder, with: keystile user erase USERNAME"} // protocol 7
	owner      = &reply.Failure{Status: 409, Msg: "the user owns applications or capabilities"}                                                                                      // protocol 7
)

// eraseNamed erases a user whose username or sub was typed.
func (s *People) eraseNamed(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	typed, err := manage.ReadConfirm(w, r)
	if err != nil {
		return nil, err
	}
	u, err := s.subject(r)
	if err != nil {
		return nil, err
	}
	if typed != u.Username && typed != u.Sub {
		return nil, notNamed
	}
	return s.erase(w, manage.WithFields(r, manage.Fields{}), who)
}

// erase serves DELETE /api/console/users/{sub}. What breaks off leaves a disabled user, and is done again.
// Who is erased is told as long as there is an address: the notice that is not sent by then goes to nobody.
func (s *People) erase(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	if err := manage.NoFields(w, r); err != nil {
		return nil, err
	}
	u, err := s.subject(r)
	if err != nil {
		return nil, err
	}
	if u.Sub == who.Sub {
		return nil, notOneself
	}
	note := func(_ context.Context, e users.Erased) error {
		s.c.Recorder.Notify(r.Context(), who, event.Notice{Kind: event.NoticeAccount, Detail: "your account was erased by an administrator"}, u.Sub)
		return s.c.Recorder.Note(r.Context(), who, admin.Act{What: "user erase", On: u.Sub, User: u.Sub, Changes: e.Changes()})
	}
	e, err := users.Erase(r.Context(), s.c.Store, s.c.Revoke, note, u.Sub)
	if owns := (*users.Owner)(nil); errors.As(err, &owns) {
		return nil, owner.Saying(owns.Error())
	}
	if err != nil {
		return nil, manage.Refusal(err, noUser)
	}
	s.names.users.forget(u.Sub)
	return erasedRecord{u.Sub, true, e.Sessions, e.Logins, e.APIKeys, e.Consents, e.OpenIDs}, nil
}
