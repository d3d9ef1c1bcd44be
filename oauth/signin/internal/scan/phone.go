package scan

import (
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

func (s *Scans) serveScan(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodPost {
		return s.answerScan(w, r)
	}
	return s.openScan(w, r)
}

// openScan shows the confirmation to the signed-in user; with that the code is scanned. It is a GET
// although it writes: it records only who may answer, and anybody who sees the code may.
func (s *Scans) openScan(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	v, user, err := s.Sessions.Visit(r)
	if errors.Is(err, storage.ErrNotFound) {
		return s.showSignInFirst(w, r, id)
	}
	if err != nil {
		return err
	}
	t, err := s.take(r.Context(), id, scan(v))
	switch {
	case err != nil:
		return scanFailure(err)
	case t.State == Confirmed, t.State == Collected:
		return s.showAnswered(w, r, "You have confirmed", "The other device is being signed in. You can close this page.")
	case t.State == Rejected:
		return s.showAnswered(w, r, "You have rejected it", "Nobody was signed in. You can close this page.")
	}
	return s.showConfirmation(w, r, t, user)
}

// showSignInFirst shows the sign-in form on the phone, which leads back to the scan.
func (s *Scans) showSignInFirst(w http.ResponseWriter, r *http.Request, id string) error {
	if _, err := s.take(r.Context(), id,
		func(*storage.Ticket, time.Time) (bool, error) { return false, nil }); err != nil {
		return scanFailure(err)
	}
	t := s.Pages.Context(r, web.ScanPath+id, storage.App{})
	return t.Show(w, http.StatusOK, web.FormPage, &web.View{
		Title: "Sign in", Lead: t.Lang.T("Sign in on this phone first. Then you can confirm the sign-in on the other " +
			"device."),
	})
}

// answerScan takes the user's answer and redirects to the page with the state of the sign-in,
// which also shows the result after a late or repeated answer.
func (s *Scans) answerScan(w http.ResponseWriter, r *http.Request) error {
	in, err := s.Pages.ReadFields(w, r, "answer")
	if err != nil {
		return err
	}
	if in["answer"] != "confirm" && in["answer"] != "reject" {
		return web.NoAnswer
	}
	id := r.PathValue("id")
	switch v, _, err := s.Sessions.Visit(r); {
	case errors.Is(err, storage.ErrNotFound): // signed out meanwhile: the page asks them to sign in
	case err != nil:
		return err
	default:
		if _, err := s.take(r.Context(), id, decide(v, in["answer"] == "confirm")); err != nil {
			return scanFailure(err)
		}
	}
	if !web.IsScanID(id) {
		return web.ScanEnded
	}
	return web.SeeOther(w, web.ScanPath+id)
}

func scanFailure(err error) error {
	switch {
	case errors.Is(err, errEnded):
		return web.ScanEnded
	case errors.Is(err, errTaken):
		return web.ScanTaken
	}
	return err
}
