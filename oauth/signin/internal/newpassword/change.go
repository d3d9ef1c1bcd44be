package newpassword

import (
	"context"
	"embed"
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/trail"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// The paths of the page, and of the one after the change.
const (
	Path        = web.FormPath + "/password"
	ChangedPath = Path + "/changed"
)

//go:embed change.html changed.html
var files embed.FS

var (
	changePage  = web.Parse(files, "change")
	changedPage = web.Parse(files, "changed")
)

// revoker ends tokens.
type revoker interface {
	Revoke(ctx context.Context, rs ...driver.Revocation) error
}

// Page changes the password of a signed-in user.
type Page struct {
	*flow.Steps
	Passwords users.PasswordUsers
	Marker    users.PasswordMarker // nil: the trail says "unknown" of passwords
	Revoker   revoker
}

func (s *Page) Routes() []reply.Route {
	both := []string{http.MethodGet, http.MethodHead, http.MethodPost}
	return []reply.Route{
		{Path: Path, Methods: both, Handle: s.serveChange, Fail: web.FailAccount},
		{Path: ChangedPath, Methods: both[:2], Handle: s.showChanged, Fail: web.FailAccount},
	}
}

// serveChange serves the page on which a signed-in user changes their password.
func (s *Page) serveChange(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodPost {
		if err := s.Pages.CheckOrigin(r); err != nil {
			return err
		}
	}
	v, u, err := s.Sessions.Visit(r)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return web.SeeOther(w, web.FormPath)
	case err != nil:
		return err
	}
	has, err := s.Passwords.HasPassword(r.Context(), u.Sub)
	if err != nil {
		return err
	}
	fresh, f, err := s.Second.Fresh(r.Context(), v)
	owes := f.Any() && !fresh // the password alone is not what they sign in with
	switch {
	case err != nil:
		return err
	case !has:
		return web.NoPassword
	case owes && r.Method == http.MethodPost:
		return session.ErrStale
	case owes:
		return s.ConfirmFor(w, r, v, u, web.AccountPath)
	case r.Method == http.MethodPost:
		return s.submit(w, r, v, u)
	}
	return s.showForm(w, r, u, http.StatusOK, "")
}

func (s *Page) showForm(w http.ResponseWriter, r *http.Request, u storage.User, status int, alert string) error {
	t := s.Pages.Context(r, "", storage.App{})
	if alert != "" {
		alert = t.Lang.T(alert)
	}
	return t.Show(w, status, changePage, &web.View{Title: "Change your password", Username: u.Username, Alert: alert,
		Secret: true})
}

// submit takes the current password as a sign-in does: whoever finds an open browser must not be able
// to guess it either. It is a sign-in, so no other has to be recent.
func (s *Page) submit(w http.ResponseWriter, r *http.Request, v storage.Session, u storage.User) error {
	in, err := s.Pages.ReadFields(w, r, "current", "password")
	if err != nil {
		return err
	}
	if in["current"] == "" { // no guess, so no failure either
		return s.showForm(w, r, u, http.StatusBadRequest, "Type in your current password.")
	}
	if err := passwords.Check(in["password"], u.Username, u.Email); err != nil {
		return s.showForm(w, r, u, http.StatusBadRequest, passwords.Explain(err))
	}
	who, throttle, err := s.Attempts.Password(r, u.Username, in["current"])
	if err == nil && throttle.Wait == 0 && who.Sub != u.Sub { // a host's own mistake: it must not change another's
		err = errors.New("signin: Authenticate knows another user by " + u.Sub + "'s username")
	}
	switch {
	case throttle.Wait > 0:
		s.Trail.SignedIn(r, http.StatusTooManyRequests, u.Sub)
		return s.Pages.ShowThrottled(w, r, "", throttle.Wait, throttle.Account)
	case errors.Is(err, storage.ErrNotFound):
		s.Trail.SignedIn(r, http.StatusUnauthorized, u.Sub)
		return s.showForm(w, r, u, http.StatusUnauthorized, "The current password is not right. Check it and try again.")
	case err != nil:
		return err
	}
	if err := s.Change(r, u, in["password"]); errors.Is(err, storage.ErrInvalid) {
		return s.showForm(w, r, u, http.StatusBadRequest, passwords.Explain(err))
	} else if err != nil {
		return err
	}
	by := session.ProofOf(v)
	// the session that has confirmed theirs has ended, and they have proved it themselves
	by.From, by.Until = "", time.Time{}
	if !by.Multifactor() { // a password alone does not make two factors recent
		by.At = time.Now()
	}
	if err := s.Sessions.Begin(w, r, u, by, web.LangFor(r, "")); err != nil {
		return err
	}
	s.Trail.SignedIn(r, http.StatusSeeOther, u.Sub)
	return web.SeeOther(w, ChangedPath)
}

// Change sets a password, ends the user's sessions and grants, and notifies the user, in case
// someone else has done it. It saves first: from then on the old password begins no session that
// the revocation would miss.
func (s *Page) Change(r *http.Request, u storage.User, password string) error {
	before := s.passwordMark(r.Context(), u.Sub)
	langs, err := s.Notices.LanguagesOf(r.Context(), u.Sub) // their sessions know, and are about to end
	if err != nil {
		return err
	}
	if err := s.Passwords.SetPassword(r.Context(), u.Sub, password); err != nil {
		return err
	}
	if err := s.signOutEverywhere(r.Context(), u.Sub); err != nil {
		return err
	}
	if err := s.Trail.Changed(r, u.Sub, "password", before, s.passwordMark(r.Context(), u.Sub)); err != nil {
		return err
	}
	s.Log.InfoContext(r.Context(), "password changed", "sub", u.Sub, "ip", s.Peer(r))
	s.Notices.NotifyIn(r.Context(), u.Sub, s.Notices.FromRequest(r, event.NoticeAccount,
		"The password was changed, and you were signed out everywhere else."), langs)
	return nil
}

// passwordMark returns what the audit trail holds of a password: "unknown" of Users who have no mark.
func (s *Page) passwordMark(ctx context.Context, sub string) string {
	if s.Marker == nil {
		return "unknown"
	}
	mark, err := s.Marker.PasswordMark(ctx, sub)
	if err != nil {
		return "unknown"
	}
	return trail.Hashed(mark)
}

func (s *Page) showChanged(w http.ResponseWriter, r *http.Request) error {
	return s.Pages.Context(r, "", storage.App{}).Show(w, http.StatusOK, changedPage,
		&web.View{Title: "Your password is changed"})
}

// signOutEverywhere ends a user's sessions and everything they granted before now.
func (s *Page) signOutEverywhere(ctx context.Context, sub string) error {
	return errors.Join(
		s.Sessions.EndEvery(ctx, sub),
		s.Revoker.Revoke(ctx, driver.Revocation{Kind: driver.RevokeUser, ID: sub}),
		s.ForgetBrowsers(ctx, sub),
	)
}
