package signin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

const (
	changePath  = formPath + "/password"
	changedPath = changePath + "/changed"
)

// serveChange is the page on which somebody who is signed in changes their password.
func (s *SignIn) serveChange(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodPost {
		if err := s.sameOrigin.Check(r); err != nil {
			return foreign.Because(err)
		}
	}
	v, u, err := s.visit(r)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return seeOther(w, formPath)
	case err != nil:
		return err
	}
	has, err := s.members.passwords.HasPassword(r.Context(), u.Sub)
	switch {
	case err != nil:
		return err
	case !has:
		return noPassword
	case r.Method == http.MethodPost:
		return s.change(w, r, v, u)
	}
	return s.askChange(w, r, u, http.StatusOK, "")
}

func (s *SignIn) askChange(w http.ResponseWriter, r *http.Request, u storage.User, status int, alert string) error {
	t := s.stage(r, "", storage.App{})
	if alert != "" {
		alert = t.lang.T(alert)
	}
	return t.show(w, status, changePage, view{Title: "Change your password", Username: u.Username, Alert: alert})
}

// change takes the current password as a sign-in does: who has found a browser open must
// not be able to guess at it either. It is one, so no other has to be recent.
func (s *SignIn) change(w http.ResponseWriter, r *http.Request, v storage.Session, u storage.User) error {
	in, err := readFields(w, r, "current", "password")
	if err != nil {
		return err
	}
	if in["current"] == "" { // no guess, so no failure either
		return s.askChange(w, r, u, http.StatusBadRequest, "Type in your current password.")
	}
	if err := passwords.Check(in["password"], u.Username, u.Email); err != nil {
		return s.askChange(w, r, u, http.StatusBadRequest, passwords.Explain(err))
	}
	who, held, err := s.admit(r, form{username: u.Username, password: in["current"]})
	if err == nil && held.wait == 0 && who.Sub != u.Sub { // a host's own mistake: it must not change another's
		err = errors.New("signin: Authenticate knows another user by " + u.Sub + "'s username")
	}
	switch {
	case held.wait > 0:
		s.note(r, http.StatusTooManyRequests, u.Sub)
		return s.sayHeld(w, r, form{}, held)
	case errors.Is(err, storage.ErrNotFound):
		s.note(r, http.StatusUnauthorized, u.Sub)
		return s.askChange(w, r, u, http.StatusUnauthorized, "The current password is not right. Check it and try again.")
	case err != nil:
		return err
	}
	if err := s.changePassword(r, u, in["password"]); errors.Is(err, storage.ErrInvalid) {
		return s.askChange(w, r, u, http.StatusBadRequest, passwords.Explain(err))
	} else if err != nil {
		return err
	}
	if err := s.begin(w, r, u, v.LoginType, time.Now(), ""); err != nil {
		return err
	}
	s.note(r, http.StatusSeeOther, u.Sub)
	return seeOther(w, changedPath)
}

// changePassword saves first: from then on nobody signs in with the old one, and nothing
// begins that the revocation would miss. Then it tells the user, who may not have done it.
func (s *SignIn) changePassword(r *http.Request, u storage.User, password string) error {
	before := s.passwordMark(r.Context(), u.Sub)
	langs, err := s.spokenBy(r.Context(), u.Sub) // their sessions know, and are about to end
	if err != nil {
		return err
	}
	if err := s.members.passwords.SetPassword(r.Context(), u.Sub, password); err != nil {
		return err
	}
	if err := s.signOutEverywhere(r.Context(), u.Sub); err != nil {
		return err
	}
	if err := s.changed(r, u.Sub, "password", before, s.passwordMark(r.Context(), u.Sub)); err != nil {
		return err
	}
	s.log.InfoContext(r.Context(), "password changed", "sub", u.Sub, "ip", s.peer(r))
	s.tell(r.Context(), u.Sub, s.notice(r, event.NoticeAccount, "The password was changed, and you were signed out everywhere else."), langs)
	return nil
}

// passwordMark is what the audit trail holds of a password: "unknown" of Users who have no mark.
func (s *SignIn) passwordMark(ctx context.Context, sub string) string {
	if s.marker == nil {
		return "unknown"
	}
	mark, err := s.marker.PasswordMark(ctx, sub)
	if err != nil {
		return "unknown"
	}
	return hashed(mark)
}

func (s *SignIn) sayChanged(w http.ResponseWriter, r *http.Request) error {
	return s.stage(r, "", storage.App{}).show(w, http.StatusOK, changedPage, view{Title: "Your password is changed"})
}
