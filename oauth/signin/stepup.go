package signin

import (
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/storage"
)

// Recent reports whether a visitor's sign-in is recent enough to change who gets in, and
// whatever else must not be open to who finds a browser that somebody has left: entry 57
// of the decisions.
func (s *SignIn) Recent(v storage.Session) bool { return stepup.Fresh(v.AuthTime, time.Now()) }

// errStale: somebody is signed in, but for so long that it may be somebody else by now.
var errStale = errors.New("signin: the sign-in is too long ago")

// recent is visit for what takes a recent sign-in. With errStale it says whose is too old.
func (s *SignIn) recent(r *http.Request) (storage.Session, storage.User, error) {
	v, u, err := s.visit(r)
	if err == nil && !s.Recent(v) {
		err = errStale
	}
	return v, u, err
}

// askAgain has somebody sign in once more; then they are where they find the page again.
func (s *SignIn) askAgain(w http.ResponseWriter, r *http.Request, u storage.User) error {
	t := s.stage(r, accountPath, storage.App{})
	return t.show(w, http.StatusOK, formPage, view{
		Title: "Sign in", Username: u.Username,
		Lead: t.lang.T("Sign in once more, so that we know it is you. Then do again what you wanted to do."),
	})
}

// confirm is GET /oauth/account/confirm: the sign-in form once more, for who is signed in.
func (a *account) confirm(w http.ResponseWriter, r *http.Request) error {
	_, user, err := a.in.visit(r)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return a.in.stage(r, accountPath, storage.App{}).show(w, http.StatusOK, formPage, view{Title: "Sign in"})
	case err != nil:
		return err
	}
	return a.in.askAgain(w, r, user)
}
