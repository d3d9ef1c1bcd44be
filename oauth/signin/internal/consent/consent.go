package consent

import (
	"context"
	"embed"
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// Path is where the answer goes.
const Path = web.FormPath + "/consent"

//go:embed consent.html
var consentFiles embed.FS

var consentPage = web.Parse(consentFiles, "consent")

// store keeps what users have allowed applications.
type store interface {
	Consent(ctx context.Context, appID, sub string) (storage.Consent, error)
	SaveConsent(ctx context.Context, c storage.Consent) (storage.Consent, error)
}

// userStore knows users by their sub.
type userStore interface {
	User(ctx context.Context, sub string) (storage.User, error)
}

// Consents asks people what applications may learn and do.
type Consents struct {
	*flow.Steps
	Store store
	Users userStore
}

// Routes returns what is served here.
func (s *Consents) Routes() []reply.Route {
	return []reply.Route{{Path: Path, Methods: []string{http.MethodPost}, Handle: s.answer, Fail: web.Fail}}
}

// Allowed reports whether a user has allowed an application everything in a scope; of an
// empty one, whether they have allowed it anything. It implements oauth.Consent.
func (s *Consents) Allowed(ctx context.Context, app storage.App, sub, wanted string) (bool, error) {
	c, err := s.Store.Consent(ctx, app.ID, sub)
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	return err == nil && scope.Within(c.Scope, wanted), err
}

// AllowedOnce reports whether a user has just allowed an application a scope that they are
// asked for each time, and uses that up. It implements oauth.Consent.
func (s *Consents) AllowedOnce(ctx context.Context, app storage.App, sub, wanted string) (bool, error) {
	_, err := storage.RetryOnConflict(ctx, func() (storage.Consent, error) {
		c, err := s.Store.Consent(ctx, app.ID, sub)
		if err != nil {
			return c, err
		}
		if !time.Now().Before(c.OnceUntil) || !scope.Within(c.Scope+" "+c.Once, wanted) {
			return c, storage.ErrNotFound
		}
		c.Once, c.OnceUntil = "", time.Time{}
		return s.Store.SaveConsent(ctx, c) // of two requests at once one loses, and asks again
	})
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Ask answers an authorize request with the question what the application may learn:
// 200 with the page in place. The caller has validated the request; if it has read a body,
// it has put the fields into r.PostForm. It implements oauth.Consent.
func (s *Consents) Ask(w http.ResponseWriter, r *http.Request, app storage.App, who storage.Session, wanted string) error {
	query, err := web.QueryOf(r)
	if err != nil {
		return err
	}
	user, err := s.Users.User(r.Context(), who.UserID)
	if err != nil {
		return err
	}
	t := s.Pages.Context(r, query, app)
	v := consentView{View: web.ViewOf(user), User: user.Sub, Scope: knownScopes(wanted), Asks: Permissions(wanted)}
	v.Title = "Allow access"
	return t.Show(w, http.StatusOK, consentPage, &v)
}

// consentView holds what the consent page shows.
type consentView struct {
	web.View
	User  string       // who is asked: nobody else's answer counts
	Scope string       // what is asked, as it will be stored
	Asks  []Permission // the same in words
}

// answer is POST /oauth/signin/consent: the answer. Whatever it is, it leads back to
// authorize, which judges the request again.
func (s *Consents) answer(w http.ResponseWriter, r *http.Request) error {
	if err := s.Pages.CheckOrigin(r); err != nil {
		return err
	}
	in, err := web.ReadFields(w, r, "query", "user", "scope", "allow", "deny", "other")
	if err != nil {
		return err
	}
	if in["query"], err = web.Carry(in["query"]); err != nil {
		return err
	}
	app, err := s.Pages.AppOf(r.Context(), in["query"])
	if err != nil {
		return err
	}
	if app.ID == "" {
		return web.BadQuery
	}
	switch yes, no, other := in["allow"] != "", in["deny"] != "", in["other"] != ""; {
	case yes && !no && !other:
		return s.allow(w, r, app, in)
	case no && !yes && !other:
		who, _ := s.Sessions.Visitor(r) // for the trail alone: a no is a no from whomever
		s.Trail.Write(r, event.Consent, event.Event{App: app.ID, User: who.UserID, Detail: "denied"})
		return web.SeeOther(w, web.Refused(in["query"]))
	case other && !yes && !no:
		if err := s.SignOut(w, r); err != nil {
			return err
		}
		return web.SeeOther(w, web.Back(in["query"]))
	}
	return web.NotAForm
}

// allow stores a yes, if it comes from the user who was asked. Another tab may have signed
// somebody else in meanwhile, or nobody: authorize asks them instead. What takes a recent
// sign-in takes it here too: a yes that was said in advance, in a browser that somebody has
// left, would count when its owner signs in again.
func (s *Consents) allow(w http.ResponseWriter, r *http.Request, app storage.App, in map[string]string) error {
	who, err := s.Sessions.Visitor(r)
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && who.UserID != in["user"]:
		return web.SeeOther(w, web.Back(in["query"]))
	case err != nil:
		return err
	case scope.HasElevated(in["scope"]) && !session.Recent(who): // authorize asks them to sign in, and then this again
		return web.SeeOther(w, web.Back(in["query"]))
	}
	if err := s.remember(r.Context(), app.ID, who.UserID, knownScopes(in["scope"])); err != nil {
		return err
	}
	s.Trail.Write(r, event.Consent, event.Event{App: app.ID, User: who.UserID, Detail: "allowed " + knownScopes(in["scope"])})
	return web.SeeOther(w, web.Allowed(in["query"]))
}

// remember adds to what a user has allowed; what they are asked for each time is kept for
// the one grant that it was said for. Of two tabs both count.
func (s *Consents) remember(ctx context.Context, appID, sub, allowed string) error {
	for {
		c, err := s.Store.Consent(ctx, appID, sub)
		if errors.Is(err, storage.ErrNotFound) {
			c, err = storage.Consent{AppID: appID, UserID: sub}, nil
		}
		if err == nil {
			c = c.With(scope.WithoutElevated(allowed))
			if once := scope.OnlyElevated(allowed); once != "" {
				c.Once, c.OnceUntil = once, time.Now().Add(stepup.MaxAge).UTC()
			}
			_, err = s.Store.SaveConsent(ctx, c)
		}
		if !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrExists) {
			return err
		}
	}
}
