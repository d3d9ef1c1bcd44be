package factor

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// Ask implements flow.Second.
func (s *Factors) Ask(w http.ResponseWriter, r *http.Request, user storage.User, by session.Proof,
	query string) (asked bool, err error) {
	f, err := s.Store.Factors(r.Context(), user.Sub)
	if err != nil {
		return false, err
	}
	if !f.Any() {
		return s.askForOne(w, r, Pending{User: user, By: by, Factors: f}, query)
	}
	app, err := s.Pages.AppOf(r.Context(), query)
	if err != nil {
		return false, err
	}
	wanted := s.wanted(app, query, true)
	if !can(f, wanted) { // they prove what they have, and the application is told which level that is
		wanted = LevelMulti
	}
	if wanted == "" && app.ID != "" && !demands(query) && s.trusted(r, f) && !s.here(r, user) {
		if asks, err := s.Tools(r.Context(), app, user.Sub, query); err != nil || !asks {
			return false, err
		}
	}
	return true, s.hold(w, r, Pending{User: user, By: by, Level: wanted}, query)
}

// demands reports whether a request wants more than a session: a new sign-in, the console, a form that goes on after
// it, or to manage what belongs to the user.
func demands(query string) bool {
	if web.IsConsole(query) || web.IsGoOn(query) {
		return true
	}
	values, err := url.ParseQuery(query)
	return err != nil || values.Has("prompt") || values.Has("max_age") || values.Has("acr_values") ||
		scope.HasElevated(values.Get("scope"))
}

// here reports whether a user is signed in in this browser already, so that they prove it once more.
func (s *Factors) here(r *http.Request, user storage.User) bool {
	v, err := s.Sessions.Visitor(r)
	return !errors.Is(err, storage.ErrNotFound) && (err != nil || v.UserID == user.Sub)
}

// wanted returns the level that the application of an authorize request requires of everybody, or with asked the
// one that the request asks for.
func (s *Factors) wanted(app storage.App, query string, asked bool) string {
	if app.ID == "" {
		return ""
	}
	values := url.Values{}
	if asked {
		values, _ = url.ParseQuery(query) // what cannot be read is not there
	}
	return Wanted(app, values.Get("acr_values"))
}

// Enough reports whether a session is enough for what an application wants. It is also true for users who
// have a second factor and nothing to prove more with, such as an authenticator app where a passkey is
// asked for.
func (s *Factors) Enough(ctx context.Context, v storage.Session, app storage.App, acrValues string) (bool, error) {
	wanted := Wanted(app, acrValues)
	if Meets(LevelOf(v), wanted) {
		return true, nil
	}
	f, err := s.Store.Factors(ctx, v.UserID)
	return err == nil && f.Any() && !can(f, wanted), err
}

// can reports whether a user has what proves a level.
func can(f storage.Factors, wanted string) bool {
	if wanted == LevelResistant {
		return len(f.Passkeys) > 0
	}
	return f.Any()
}

// Raise asks a signed-in user for the factor that their session lacks for what an application wants, or to add
// one. If it is not that, but a sign-in from the start, asked is false and nothing is written.
func (s *Factors) Raise(w http.ResponseWriter, r *http.Request, app storage.App,
	acrValues, query string) (asked bool, err error) {
	wanted := Wanted(app, acrValues)
	v, user, err := s.Sessions.Visit(r)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	case Meets(LevelOf(v), wanted):
		return false, nil
	}
	f, err := s.Store.Factors(r.Context(), user.Sub)
	p := Pending{User: user, By: session.ProofOf(v), Level: wanted, Raise: true, Factors: f}
	switch {
	case err != nil:
		return false, err
	case !f.Any():
		return true, s.Enrol(w, r, p, query)
	case !can(f, wanted):
		return false, nil
	}
	return true, s.hold(w, r, p, query)
}

// Forget ends the trust of every browser that a user (a sub) has trusted. It implements flow.Second.
func (s *Factors) Forget(ctx context.Context, sub string) error {
	f, err := s.Store.Factors(ctx, sub)
	if err != nil || !f.Any() {
		return err
	}
	_, err = s.Change(ctx, sub, func(f *storage.Factors) error {
		f.Epoch++
		return nil
	})
	return err
}
