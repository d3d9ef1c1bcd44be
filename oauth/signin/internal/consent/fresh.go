package consent

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/formwords"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// takesFresh returns a *session.Stale if a user allows an application tools that they have not allowed it before, in a
// session that is not fresh (decision 91). A grant of tools is the equal of an API key: it is renewed for as long as
// it is used.
func (s *Consents) takesFresh(r *http.Request, q request, who storage.Session, allowed string) error {
	_, tools := splitTools(allowed)
	if len(tools) == 0 {
		return nil
	}
	before, err := s.Store.Consent(r.Context(), q.app.ID, who.UserID)
	switch {
	case err != nil && !errors.Is(err, storage.ErrNotFound):
		return err
	case err == nil && before.Terms == q.app.Terms() && scope.Within(before.Scope, strings.Join(tools, " ")):
		return nil
	}
	if fresh, _, err := s.Second.Fresh(r.Context(), who); err != nil || fresh {
		return err
	}
	return &session.Stale{About: q.about(r, allowed)}
}

// TakesFresh is for the other page that asks users what an application may do: the one of a device.
func (s *Consents) TakesFresh(r *http.Request, app storage.App, who storage.Session, allowed string) error {
	return s.takesFresh(r, request{app: app, scope: allowed}, who, allowed)
}

func (q request) about(r *http.Request, allowed string) (about web.About) {
	params, _ := url.ParseQuery(q.query)
	lang := page.LangOf(r, params.Get("ui_locales"))
	if about.What = lang.T("Allow an application"); q.query == "" {
		about.What = lang.T("Allow a device")
	}
	name := q.app.Name
	if of := StrangerOf(q.app); of != nil {
		if name = of.Claim; of.Host != "" {
			name += " (" + of.Host + ")"
		}
	}
	about.Fields = append(about.Fields, formwords.Field{Name: lang.T("Application"), Value: formwords.Cut(name)})
	for _, p := range Permissions(allowed) {
		about.Fields = append(about.Fields, web.Said(formwords.Cut(p.In(lang))))
	}
	if redirect := params.Get("redirect_uri"); q.app.AllowsRedirect(redirect) == nil {
		about.Leads = storage.RedirectOrigin(redirect)
	}
	return about
}

// New reports whether a user would be asked to allow an application tools, if they signed in for an authorize request
// now: a trusted browser does not spare them the second factor then.
func (s *Consents) New(ctx context.Context, app storage.App, sub, query string) (bool, error) {
	params, _ := url.ParseQuery(query)
	_, tools := splitTools(params.Get("scope"))
	if len(tools) == 0 || app.Client == nil && app.FirstParty {
		return false, nil
	}
	_, ok, err := s.Allowed(ctx, app, sub, strings.Join(tools, " "))
	return !ok, err
}
