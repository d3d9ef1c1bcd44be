package signin

import (
	"context"
	"embed"
	"errors"
	"net/http"

	"github.com/keystile/keystile/oauth/signin/internal/scan"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

//go:embed signedin.html
var coreFiles embed.FS

var signedInPage = web.Parse(coreFiles, "signedin")

// Ask answers an authorize request that needs somebody to sign in: 200 with the page in
// place. The caller has validated the request, by GET or form POST, for this application;
// if it has read a body, it has put the fields into r.PostForm.
func (s *SignIn) Ask(w http.ResponseWriter, r *http.Request, app storage.App) error {
	query, err := web.QueryOf(r)
	if err != nil {
		return err
	}
	t := s.steps.Pages.Context(r, query, app)
	return t.Show(w, http.StatusOK, web.FormPage, &web.View{Title: "Sign in", Username: t.Hint})
}

// showPage answers a GET of the sign-in page: who is signed in, or the form without an application.
func (s *SignIn) showPage(w http.ResponseWriter, r *http.Request) error {
	_, user, err := s.steps.Sessions.Visit(r)
	t := s.steps.Pages.Context(r, "", storage.App{})
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return t.Show(w, http.StatusOK, web.FormPage, &web.View{Title: "Sign in", Username: t.Hint})
	case err != nil:
		return err
	}
	v := web.ViewOf(user)
	v.Title = "You are signed in"
	return t.Show(w, http.StatusOK, signedInPage, &v)
}

// Visitor says whose browser a request comes from: the live session of an enabled user.
// Nobody's is storage.ErrNotFound. Any other error means that it is not known: never take
// it for nobody.
func (s *SignIn) Visitor(r *http.Request) (storage.Session, error) {
	return s.steps.Sessions.Visitor(r)
}

// Recent reports whether a visitor's sign-in is recent enough to change who gets in, and
// whatever else must not be open to who finds a browser that somebody has left: decision 57.
func (s *SignIn) Recent(v storage.Session) bool { return session.Recent(v) }

// SignOut ends the session behind the cookie, if there is one, writes that down and clears the
// cookie. If it fails the cookie stays, so that signing out can be tried again.
func (s *SignIn) SignOut(w http.ResponseWriter, r *http.Request) error { return s.steps.SignOut(w, r) }

// Notify tells a user (a sub) by email what was done to what is theirs. It does not wait:
// whether there is an email is decided beside the request. None is sent to who has no
// address that they have proved, and no more than ten an hour to anybody.
func (s *SignIn) Notify(ctx context.Context, sub string, n event.Notice) {
	s.steps.Notices.Notify(ctx, sub, n)
}

// Allowed reports whether a user has allowed an application everything in a scope; of an
// empty one, whether they have allowed it anything. It implements oauth.Consent.
func (s *SignIn) Allowed(ctx context.Context, app storage.App, sub, wanted string) (bool, error) {
	return s.consents.Allowed(ctx, app, sub, wanted)
}

// AllowedOnce reports whether a user has just allowed an application a scope that they are
// asked for each time, and uses that up. It implements oauth.Consent.
func (s *SignIn) AllowedOnce(ctx context.Context, app storage.App, sub, wanted string) (bool, error) {
	return s.consents.AllowedOnce(ctx, app, sub, wanted)
}

// AskConsent answers an authorize request with the question what the application may learn:
// 200 with the page in place. The caller has validated the request; if it has read a body,
// it has put the fields into r.PostForm. It implements oauth.Consent.
func (s *SignIn) AskConsent(w http.ResponseWriter, r *http.Request, app storage.App, who storage.Session, wanted string) error {
	return s.consents.Ask(w, r, app, who, wanted)
}

// FreePaths are the paths of sign-in that no rate of a gateway should count: a page that
// waits for a phone asks every two seconds and has a rate of its own here, and a script is
// a file.
func FreePaths() []string { return scan.Unmetered() }
