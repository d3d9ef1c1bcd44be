package flow

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/oauth/signin/internal/attempt"
	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/internal/notice"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/trail"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/event"
)

// Steps holds the parts that all sign-in methods share. Each method embeds it.
type Steps struct {
	*Base
	Second Second
}

// Base holds the parts of Steps that the second factor is made of too.
type Base struct {
	Pages    *web.Pages
	Sessions *session.Sessions
	Trail    *trail.Trail
	Notices  *notice.Notices
	Attempts *attempt.Attempts
	Guard    counters.Addresses
	Rates    limits.Rates
	Peer     func(*http.Request) netip.Addr
	Log      *slog.Logger
}

// Second asks for a second factor.
type Second interface {
	// Ask answers the request of a user who has proved one factor, if they have to prove another first;
	// otherwise asked is false, and nothing is written.
	Ask(w http.ResponseWriter, r *http.Request, user storage.User, by session.Proof, query string) (asked bool, err error)
	// Raise answers the request of a signed-in user, if an application wants a factor that their session
	// lacks; otherwise asked is false, and nothing is written.
	Raise(w http.ResponseWriter, r *http.Request, app storage.App, acrValues, query string) (asked bool, err error)
	// Forget ends the trust of the browsers in which a user (a sub) is not asked. A new password and signing out
	// everywhere do.
	Forget(ctx context.Context, sub string) error
	// Fresh reports whether a session has proved within ten minutes what its user has, and returns that. It is the
	// question of package stepup.
	Fresh(ctx context.Context, v storage.Session) (fresh bool, f storage.Factors, err error)
	// Proved reports whether a session has proved what its user has, at whatever time.
	Proved(ctx context.Context, v storage.Session) (bool, error)
	// Confirm answers the request of a signed-in user with the page that asks for what their session lacks, with the
	// reason for it, in English, and leads to the query then: for the second factor alone, if the first one was
	// proved a short time ago, else for all they have.
	Confirm(w http.ResponseWriter, r *http.Request, v storage.Session, u storage.User, query, why string) error
}

// SignIn signs in a user who has authenticated, and redirects back to the query. First it asks for a second
// factor, where one is needed and not among the proof.
func (s *Steps) SignIn(w http.ResponseWriter, r *http.Request, user storage.User, by session.Proof,
	query string) error {
	if !by.Multifactor() {
		if asked, err := s.Second.Ask(w, r, user, by, query); asked || err != nil {
			return err
		}
	}
	return s.Finish(w, r, user, by, query)
}

// Finish is SignIn for a user who has proved all that is needed. If the proof is from long ago, the
// application's request for a fresh sign-in is not met and stays in the query.
func (s *Base) Finish(w http.ResponseWriter, r *http.Request, user storage.User, by session.Proof,
	query string) error {
	to, err := s.Begin(w, r, user, by, query)
	if err != nil {
		return err
	}
	return web.SeeOther(w, to) // not 307, which would send the password along (RFC 9700 4.12)
}

// Begin is Finish without the redirect: it returns where that leads.
func (s *Base) Begin(w http.ResponseWriter, r *http.Request, user storage.User, by session.Proof,
	query string) (to string, err error) {
	notify := s.Notices.NewBrowser(r, user)
	if err := s.Sessions.Begin(w, r, user, by, web.LangFor(r, query)); err != nil {
		return "", err
	}
	reqctx.ChargeSignIn(r.Context(), user.Sub)
	s.Trail.SignedIn(r, http.StatusSeeOther, user.Sub)
	notify()
	if !by.Settled && !by.RecentAt(time.Now()) {
		return web.Back(query), nil
	}
	return web.Onward(query), nil
}

// Confirms reports whether a proof is new enough for what takes a fresh sign-in, before its user is asked for a second
// factor, if they have one: SignIn does.
func (s *Base) Confirms(by session.Proof) bool { return by.RecentAt(time.Now()) }

// VisitFresh returns the session and the user of a request for what takes a fresh sign-in (decision 91), and the
// factors of the user. With session.ErrStale it returns them too. A form of the account returns that error, and package
// kept asks; a page asks with ConfirmFor.
func (s *Steps) VisitFresh(r *http.Request) (v storage.Session, u storage.User, f storage.Factors, err error) {
	if v, u, err = s.Sessions.Visit(r); err != nil {
		return v, u, f, err
	}
	fresh, f, err := s.Second.Fresh(r.Context(), v)
	if err == nil && !fresh {
		err = session.ErrStale
	}
	return v, u, f, err
}

// ConfirmFor asks a signed-in user to prove once more what they have, and leads to a page of their account then.
func (s *Steps) ConfirmFor(w http.ResponseWriter, r *http.Request, v storage.Session, u storage.User,
	path string) error {
	return s.Second.Confirm(w, r, v, u, path,
		"Sign in once more, so that we know it is you. Then do again what you wanted to do.")
}

// SignOut ends the session behind the cookie, if there is one, writes that down and clears the
// cookie. If it fails the cookie stays, so that signing out can be tried again.
func (s *Base) SignOut(w http.ResponseWriter, r *http.Request) error {
	ended, err := s.Sessions.EndAll(r)
	for _, v := range ended {
		err = errors.Join(err, s.Trail.WriteNow(r, event.Account, event.Event{User: v.UserID, Detail: "signed out"}))
	}
	if err != nil {
		return err
	}
	s.Sessions.ClearCookie(w)
	return nil
}

// ForgetBrowsers ends the trust of the browsers in which a user (a sub) is not asked for a second factor.
func (s *Steps) ForgetBrowsers(ctx context.Context, sub string) error {
	return s.Second.Forget(ctx, sub)
}

// Act counts what a user (a sub) does, or returns why they have to wait.
func (s *Base) Act(ctx context.Context, what, sub string) error {
	if wait := s.Rates.Acts.Take(ctx, what+" "+sub); wait > 0 {
		return web.TooManyActs.With("Retry-After", web.InSeconds(wait))
	}
	return nil
}

// ShowSignIn shows the sign-in form in the place of a page of a user's account.
func (s *Base) ShowSignIn(w http.ResponseWriter, r *http.Request) error {
	t := s.Pages.Context(r, web.AccountPath, storage.App{})
	return t.Show(w, http.StatusOK, web.FormPage, &web.View{Title: "Sign in", Username: t.Hint})
}

// Invited returns the ID of the invitation whose code a person has typed, or storage.ErrNotFound, which is written
// down and counts as a failed sign-in; or how long to wait.
func (s *Base) Invited(r *http.Request, by users.InvitedUsers,
	code string) (id string, wait time.Duration, err error) {
	ip := s.Peer(r)
	if wait := s.Guard.Begin(r.Context(), ip); wait > 0 {
		s.Trail.Refused(r, http.StatusTooManyRequests, "")
		return "", wait, nil
	}
	id, err = by.Invited(r.Context(), code)
	wrong := errors.Is(err, storage.ErrNotFound)
	s.Guard.End(r.Context(), ip, wrong)
	if wrong {
		s.Trail.Refused(r, http.StatusUnauthorized, "")
	}
	return id, 0, err
}

// AllowByIP counts an email or a new user for an address, or returns how long to wait.
func (s *Base) AllowByIP(r *http.Request) (wait time.Duration) {
	return s.Rates.ByIP.Take(r.Context(), network.Of(s.Peer(r)))
}
