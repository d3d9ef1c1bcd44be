package signin

import (
	"errors"
	"net/http"
	"strings"

	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// enter answers the form: 303 for who is known, 401 for who is not, 429 while locked, 400 for
// a form with nothing in it.
func (s *SignIn) enter(w http.ResponseWriter, r *http.Request) error {
	if err := s.in.Pages.CheckOrigin(r); err != nil {
		return err
	}
	in, err := web.ReadForm(w, r)
	if err != nil {
		return err
	}
	if strings.TrimSpace(in.Username) == "" || in.Password == "" { // no guess, so no failure either
		return s.sayUnfilled(w, r, in)
	}
	user, held, err := s.in.Attempts.Password(r, in.Username, in.Password)
	switch {
	case held.Wait > 0:
		s.in.Trail.Refused(r, http.StatusTooManyRequests, "")
		return s.in.Pages.SayHeld(w, r, in.Query, held.Wait, held.Account)
	case errors.Is(err, storage.ErrNotFound):
		s.in.Trail.Refused(r, http.StatusUnauthorized, held.Sub)
		return s.sayWrong(w, r, in)
	case err != nil:
		return err
	}
	return s.in.SignIn(w, r, user, storage.LoginSelf, in.Query)
}

// sayWrong shows the form again: 401, the username kept, the password not.
func (s *SignIn) sayWrong(w http.ResponseWriter, r *http.Request, in web.Form) error {
	return s.sayAlert(w, r, in, http.StatusUnauthorized, "The username or the password is not right. Check both and try again.")
}

// sayUnfilled shows the form again to who has left a field empty: 400.
func (s *SignIn) sayUnfilled(w http.ResponseWriter, r *http.Request, in web.Form) error {
	return s.sayAlert(w, r, in, http.StatusBadRequest, "Type in your username and your password.")
}

func (s *SignIn) sayAlert(w http.ResponseWriter, r *http.Request, in web.Form, status int, alert string) error {
	t, err := s.in.Pages.Restore(r.Context(), r, in.Query)
	if err != nil {
		return err
	}
	return t.Show(w, status, web.FormPage, &web.View{Title: "Sign-in failed", Username: web.UsernameHint(in.Username), Alert: t.Lang.T(alert)})
}
