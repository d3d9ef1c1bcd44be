package federation

import (
	"errors"
	"net/http"

	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/internal/trail"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// serveLink redirects a signed-in user to the provider, to add it to their sign-in methods. It
// takes a form and a fresh sign-in: if a link could do it, an attacker could sign the browser in
// at the provider as the attacker, and sign in here as the user afterwards.
func (u provider) serveLink(w http.ResponseWriter, r *http.Request) error {
	if _, err := u.Pages.ReadFields(w, r); err != nil {
		return err
	}
	mine, _, _, err := u.VisitFresh(r)
	if errors.Is(err, storage.ErrNotFound) {
		return web.SeeOther(w, web.AccountPath) // it asks them to sign in
	}
	if err != nil {
		return err
	}
	return u.redirect(w, r, storage.Ticket{UserID: mine.UserID}, http.StatusSeeOther)
}

// linkUser links the provider to the user who has begun this, if they are still signed in, with what they have.
func (u provider) linkUser(w http.ResponseWriter, r *http.Request, t storage.Ticket, p connector.Profile) error {
	mine, err := u.Sessions.Visitor(r)
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && mine.UserID != t.UserID:
		return web.NotWhoBegan
	case err != nil:
		return err
	}
	switch proved, err := u.Second.Proved(r.Context(), mine); {
	case err != nil:
		return err
	case !proved:
		return web.NotWhoBegan
	}
	before := trail.MethodsBy(r.Context(), u.Logins, mine.UserID)
	switch err := u.Users.Connect(r.Context(), mine.UserID, u.Name(), p); {
	case errors.Is(err, storage.ErrExists):
		return web.LoginTaken
	case err != nil:
		return err
	}
	u.Notices.NotifyIn(r.Context(), mine.UserID, u.Notices.FromRequest(r, event.NoticeSignInMethod,
		"Added: "+u.Labels.Of(u.Name())), nil)
	if err := u.Trail.Changed(r, mine.UserID, "linked "+u.Name(), before,
		trail.MethodsBy(r.Context(), u.Logins, mine.UserID)); err != nil {
		return err
	}
	return web.SeeOther(w, web.AccountPath)
}
