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

// Path is the target of the form.
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

// Consents asks users for consent, and keeps it.
type Consents struct {
	*flow.Steps
	Store store
	Users userStore
}

// Routes returns what is served here.
func (s *Consents) Routes() []reply.Route {
	return []reply.Route{{Path: Path, Methods: []string{http.MethodPost}, Handle: s.answer, Fail: web.Fail}}
}

// Allowed returns what a user has allowed an application of a scope; of an empty one, it reports
// whether they have allowed it anything. It implements oauth.Consent.
func (s *Consents) Allowed(ctx context.Context, app storage.App, sub, wanted string) (granted string, ok bool, err error) {
	c, err := s.Store.Consent(ctx, app.ID, sub)
	if errors.Is(err, storage.ErrNotFound) || err == nil && c.Terms != app.Terms() {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	granted, ok = scope.Narrowed(wanted, c.Asked, c.Scope)
	return granted, ok, nil
}

// AllowedOnce returns what a user has just allowed an application of a scope that they are asked
// for each time, and uses that up. It implements oauth.Consent.
func (s *Consents) AllowedOnce(ctx context.Context, app storage.App, sub, wanted string) (granted string, ok bool, err error) {
	_, err = storage.RetryOnConflict(ctx, func() (storage.Consent, error) {
		c, err := s.Store.Consent(ctx, app.ID, sub)
		if err != nil {
			return c, err
		}
		granted, ok = scope.Narrowed(wanted, c.Asked, c.Scope+" "+c.Once)
		if !ok || !time.Now().Before(c.OnceUntil) || c.Terms != app.Terms() {
			return c, storage.ErrNotFound
		}
		c.Once, c.OnceUntil = "", time.Time{}
		return s.Store.SaveConsent(ctx, c) // of two requests at once one loses, and asks again
	})
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return "", false, nil
	case err != nil:
		return "", false, err
	}
	return granted, true, nil
}

// Ask answers an authorize request with the consent page and status 200. The caller has validated
// the request; if it has read a body, it has put the fields into r.PostForm. It implements
// oauth.Consent.
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
	User  string       // the sub of the user who is asked: nobody else's answer counts
	Scope string       // the requested scope, as it will be stored
	Asks  []Permission // the same as text
}

// answer serves POST /oauth/signin/consent. Whatever the answer is, it redirects back to authorize,
// which checks the request again.
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

// allow stores a consent, if it comes from the user who was asked. Another tab may have signed the
// user out or somebody else in meanwhile: then authorize asks again. A scope that takes a recent
// sign-in takes it here too: a consent given in advance, in a browser that its user has left,
// would count once they sign in again.
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

// remember adds to a user's consent; a scope that needs consent each time is kept for one grant.
// If two tabs consent at once, both count.
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
