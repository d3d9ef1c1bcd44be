package signin

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// ConsentStore keeps what users have allowed applications; *storage.Store has it.
type ConsentStore interface {
	// Consent returns what a user (a sub) has allowed an application, or storage.ErrNotFound.
	Consent(ctx context.Context, appID, sub string) (storage.Consent, error)
	// SaveConsent writes a consent; storage.ErrConflict or ErrExists if it has changed since
	// it was read.
	SaveConsent(ctx context.Context, c storage.Consent) (storage.Consent, error)
}

const consentPath = formPath + "/consent"

func (s *SignIn) consentRoutes() []reply.Route {
	return []reply.Route{{Path: consentPath, Methods: []string{http.MethodPost}, Handle: s.consent, Fail: failPage}}
}

var errNoConsents = errors.New("signin: neither Config.Consents nor the Store keeps consents: give one that does, or leave oauth.Config.Consent out")

// Allowed reports whether a user has allowed an application everything in a scope; of an
// empty one, whether they have allowed it anything. It implements oauth.Consent.
func (s *SignIn) Allowed(ctx context.Context, app storage.App, sub, scope string) (bool, error) {
	if s.consents == nil {
		return false, errNoConsents
	}
	c, err := s.consents.Consent(ctx, app.ID, sub)
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	return err == nil && c.Covers(scope), err
}

// AskConsent answers an authorize request with the question what the application may learn:
// 200 with the page in place. The caller has validated the request; if it has read a body,
// it has put the fields into r.PostForm. It implements oauth.Consent.
func (s *SignIn) AskConsent(w http.ResponseWriter, r *http.Request, app storage.App, who storage.Session, scope string) error {
	query, err := queryOf(r)
	if err != nil {
		return err
	}
	user, err := s.users.User(r.Context(), who.UserID)
	if err != nil {
		return err
	}
	t := s.stage(r, query, app)
	v := about(user)
	v.Title, v.Consent = "Allow access", &consentView{User: user.Sub, Scope: known(scope), Asks: asks(scope)}
	return t.show(w, http.StatusOK, consentPage, v)
}

// consentView is what the consent page shows beside who and where to.
type consentView struct {
	User  string   // who is asked: nobody else's answer counts
	Scope string   // what is asked, as it will be stored
	Asks  []string // the same in words
}

// What a scope lets an application learn, in words. The first is true of every grant: the
// token answer names the user (spec 2.2).
const askWho = "Know that it is you when you come back, with your nickname, your picture and how you signed in"

var askMore = []struct{ scope, words string }{
	{"profile", "See your name, username, gender and location"},
	{"email", "See your email address"},
}

func asks(scope string) []string {
	words := []string{askWho}
	for _, more := range askMore {
		if slices.Contains(strings.Fields(scope), more.scope) {
			words = append(words, more.words)
		}
	}
	return words
}

// known is a scope without what the page has no words for: nobody has consented to that.
func known(scope string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(scope), func(name string) bool {
		return !slices.Contains([]string{"openid", "profile", "email"}, name)
	}), " ")
}

// consent is POST /oauth/signin/consent: the answer. Whatever it is, it leads back to
// authorize, which judges the request again.
func (s *SignIn) consent(w http.ResponseWriter, r *http.Request) error {
	if err := s.sameOrigin.Check(r); err != nil {
		return foreign.Because(err)
	}
	in, err := readFields(w, r, "query", "user", "scope", "allow", "deny", "other")
	if err != nil {
		return err
	}
	if in["query"], err = carry(in["query"]); err != nil {
		return err
	}
	app, err := s.asker(r.Context(), in["query"])
	if err != nil {
		return err
	}
	if app.ID == "" {
		return badQuery
	}
	switch yes, no, other := in["allow"] != "", in["deny"] != "", in["other"] != ""; {
	case yes && !no && !other:
		return s.allow(w, r, app, in)
	case no && !yes && !other:
		who, _ := s.Visitor(r) // for the trail alone: a no is a no from whomever
		s.write(r, storage.EventConsent, storage.Event{App: app.ID, User: who.UserID, Detail: "denied"})
		return seeOther(w, refused(in["query"]))
	case other && !yes && !no:
		if err := s.SignOut(w, r); err != nil {
			return err
		}
		return seeOther(w, back(in["query"]))
	}
	return notAForm
}

// allow stores a yes, if it comes from the user who was asked. Another tab may have signed
// somebody else in meanwhile, or nobody: authorize asks them instead.
func (s *SignIn) allow(w http.ResponseWriter, r *http.Request, app storage.App, in map[string]string) error {
	who, err := s.Visitor(r)
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && who.UserID != in["user"]:
		return seeOther(w, back(in["query"]))
	case err != nil:
		return err
	case s.consents == nil:
		return errNoConsents
	}
	if err := s.remember(r.Context(), app.ID, who.UserID, known(in["scope"])); err != nil {
		return err
	}
	s.write(r, storage.EventConsent, storage.Event{App: app.ID, User: who.UserID, Detail: "allowed " + known(in["scope"])})
	return seeOther(w, allowed(in["query"]))
}

// remember adds to what a user has allowed. Of two tabs both count.
func (s *SignIn) remember(ctx context.Context, appID, sub, scope string) error {
	for {
		c, err := s.consents.Consent(ctx, appID, sub)
		if errors.Is(err, storage.ErrNotFound) {
			c, err = storage.Consent{AppID: appID, UserID: sub}, nil
		}
		if err == nil {
			_, err = s.consents.SaveConsent(ctx, c.With(scope))
		}
		if !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrExists) {
			return err
		}
	}
}

// seeOther answers a form: 303, never kept.
func seeOther(w http.ResponseWriter, to string) error {
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}
