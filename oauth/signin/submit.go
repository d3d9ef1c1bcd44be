package signin

import (
	"errors"
	"net/http"
	"strings"

	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

func (s *SignIn) serve(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodPost {
		return s.submit(w, r)
	}
	return s.showPage(w, r)
}

// submit answers the sign-in form: 303 after a sign-in, 401 for wrong credentials, 429 while
// locked, 400 for an empty field.
//
// A disabled user, an unknown one and a wrong password look the same, take the same time and count the same. A
// form without a username or a password is answered 400 and is no attempt: nothing is looked up and no failure
// counted, also while its address is locked.
func (s *SignIn) submit(w http.ResponseWriter, r *http.Request) error {
	in, err := s.steps.Pages.ReadForm(w, r)
	if err != nil {
		return err
	}
	if strings.TrimSpace(in.Username) == "" || in.Password == "" { // no guess, so no failure either
		return s.showAlert(w, r, in, http.StatusBadRequest, "Type in your username and your password.")
	}
	user, throttle, err := s.steps.Attempts.Password(r, in.Username, in.Password)
	switch {
	case throttle.Wait > 0:
		s.steps.Trail.Refused(r, http.StatusTooManyRequests, "")
		return s.steps.Pages.ShowThrottled(w, r, in.Query, throttle.Wait, throttle.Account)
	case errors.Is(err, storage.ErrNotFound):
		s.steps.Trail.Refused(r, http.StatusUnauthorized, throttle.Sub)
		return s.showAlert(w, r, in, http.StatusUnauthorized,
			"The username or the password is not right. Check both and try again.")
	case err != nil:
		return err
	default:
		s.steps.Pages.RememberWay(w, r, storage.LoginSelf)
	}
	return s.steps.SignIn(w, r, user, session.Password, in.Query)
}

func (s *SignIn) showAlert(w http.ResponseWriter, r *http.Request, in web.Form, status int, alert string) error {
	t, err := s.steps.Pages.Restore(r.Context(), r, in.Query)
	if err != nil {
		return err
	}
	return t.Show(w, status, web.FormPage, &web.View{Title: "Sign-in failed", Username: web.UsernameHint(in.Username),
		Alert: t.Lang.T(alert)})
}
