package consent

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// answer serves POST /oauth/signin/consent. It redirects back to authorize, which checks the
// request again, whatever the answer is; only an empty choice is asked for again at once.
func (s *Consents) answer(w http.ResponseWriter, r *http.Request) error {
	in, picks, err := s.Pages.ReadChoice(w, r, "pick", maxPicks,
		"query", "user", "scope", "terms", "tools", "allow", "deny", "other")
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
		return s.allow(w, r, request{app, in["query"], knownScopes(in["scope"])}, in, picks)
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

// allow stores a consent, if it comes from the user who was asked, about the application as it was
// then. Another tab may have signed the user out, or another user in, meanwhile: then authorize asks
// again. Scopes that need a fresh sign-in need it here: a consent given in advance, in a browser
// that its user has left, would count once they sign in again.
func (s *Consents) allow(w http.ResponseWriter, r *http.Request, q request, in map[string]string,
	picks []string) error {
	who, user, err := s.Sessions.Visit(r)
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && who.UserID != in["user"]:
		return web.SeeOther(w, web.Back(q.query))
	case err != nil:
		return err
	case in["terms"] != q.app.Terms(): // it has changed since the page was made
		return web.SeeOther(w, web.Back(q.query))
	}
	if scope.HasElevated(q.scope) { // authorize asks them to sign in, and then this again: it is allowed for ten minutes
		if fresh, _, err := s.Second.Fresh(r.Context(), who); err != nil {
			return err
		} else if !fresh {
			return web.SeeOther(w, web.Back(q.query))
		}
	}
	c, err := s.choiceOf(r.Context(), q, who.UserID)
	if err != nil {
		return err
	}
	allowed, again, ok := c.take(q.scope, in["tools"], picks)
	switch {
	case again != "":
		return s.show(w, r, http.StatusBadRequest, q, user, again)
	case !ok: // the page would offer something else now
		return web.SeeOther(w, web.Back(q.query))
	}
	if err := s.takesFresh(r, q, who, allowed); err != nil {
		return err
	}
	if q.app.Client != nil {
		err := s.Store.KeepClient(r.Context(), q.app.ID)
		if errors.Is(err, storage.ErrNotFound) { // it has just ended
			return web.SeeOther(w, web.Back(q.query))
		}
		if err != nil {
			return err
		}
	}
	if err := s.remember(r.Context(), q, who.UserID, allowed); err != nil {
		return err
	}
	s.Trail.Write(r, event.Consent, event.Event{App: q.app.ID, User: who.UserID, Detail: "allowed " + allowed})
	return web.SeeOther(w, web.Allowed(q.query))
}

// remember adds to a user's consent; a scope that needs consent each time is kept for one grant. If
// two tabs consent at once, both count. A consent to less than before ends the tokens that hold
// more.
func (s *Consents) remember(ctx context.Context, q request, sub, allowed string) error {
	for {
		before, err := s.Store.Consent(ctx, q.app.ID, sub)
		if errors.Is(err, storage.ErrNotFound) {
			before, err = storage.Consent{AppID: q.app.ID, UserID: sub, Terms: q.app.Terms()}, nil
		}
		if err == nil {
			now := q.added(before, allowed)
			if _, err = s.Store.SaveConsent(ctx, now); err == nil {
				return s.endMore(ctx, before, now)
			}
		}
		if !errors.Is(err, storage.ErrConflict) && !errors.Is(err, storage.ErrExists) {
			return err
		}
	}
}

// maxAsked bounds the names that are kept of what a user has been asked for.
const maxAsked = 128

// added returns a consent with what a user has allowed of a request. Nothing stays of what was
// allowed on other terms. Of tools, what was asked for now is replaced by what was allowed, and all
// where the request wants the user to choose anew.
func (q request) added(c storage.Consent, allowed string) storage.Consent {
	if terms := q.app.Terms(); c.Terms != terms {
		c.Terms, c.Scope, c.Asked, c.Once, c.OnceUntil = terms, "", "", "", time.Time{}
	}
	if scope.HasTools(q.scope) {
		anew := web.AsksConsent(q.query)
		kept := slices.DeleteFunc(strings.Fields(c.Scope), func(name string) bool {
			return scope.IsTools(name) && (anew || scope.Within(q.scope, name))
		})
		c.Scope = strings.Join(kept, " ")
	}
	if _, tools := splitTools(q.scope); !scope.Within(allowed, strings.Join(tools, " ")) {
		asked := slices.Concat(strings.Fields(c.Asked), tools)
		if len(asked) > maxAsked { // it is asked for the older ones once more
			asked = tools
		}
		slices.Sort(asked)
		c.Asked = strings.Join(slices.Compact(asked), " ")
	}
	c = c.With(scope.WithoutElevated(allowed))
	if once := scope.OnlyElevated(allowed); once != "" {
		c.Once, c.OnceUntil = once, time.Now().Add(stepup.MaxAge).UTC()
	}
	return c
}

// endMore ends the tokens of an application that hold tools which its user no longer allows.
func (s *Consents) endMore(ctx context.Context, before, now storage.Consent) error {
	_, tools := splitTools(before.Scope)
	if s.Revoker == nil || scope.Within(now.Scope, strings.Join(tools, " ")) {
		return nil
	}
	return s.Revoker.Revoke(ctx, driver.Revocation{Kind: driver.RevokeConsent,
		ID: driver.ConsentID(now.AppID, now.UserID)})
}
