package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/cookies"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/usernames"
	"github.com/keystile/keystile/storage"
)

// ViewOf returns a View of a user.
func ViewOf(user storage.User) View {
	name := cmp.Or(user.Nickname, user.Name, user.Username)
	return View{Name: name, Letter: page.Brand{Name: name}.Letter(), Username: user.Username}
}

// Context holds what the pages of one sign-in share.
type Context struct {
	Lang        page.Lang
	Brand       page.Brand
	Query       string // the authorize request, see Carry
	Origin      string // where that leads in the end; "" if it does not say, or may not
	Hint        string // login_hint
	About       About  // of the form that goes on afterwards
	lead        string // of the sign-in page
	trouble     string // why signing in will not last, on the sign-in page; "": nothing is wrong
	signInLinks []Link // to sign in, beside the password
	passkeys    bool   // users can sign in with passkeys
	helpLinks   []Link // to a password or a user
}

// Context returns the Context of the pages for an authorize request of an application.
func (p *Pages) Context(r *http.Request, query string, app storage.App) Context {
	params := authorizeParams(r, query)
	t := Context{
		Lang: page.LangOf(r, params.Get("ui_locales")), Brand: page.BrandOf(app),
		Query: query, Hint: UsernameHint(params.Get("login_hint")), signInLinks: p.links(r, query),
		passkeys: p.Passkeys, helpLinks: carrying(p.HelpLinks, query), About: p.about(r, query),
	}
	if params.Has(paramHint) {
		t.lead = t.Lang.T("The application asks for the person who was signed in to it before: sign in as that person.")
	}
	if len(r.CookiesNamed(cookies.Session)) > 1 {
		t.trouble = t.Lang.T(twoCookies)
	}
	if redirect := params.Get("redirect_uri"); app.AllowsRedirect(redirect) == nil {
		t.Origin = storage.RedirectOrigin(redirect)
	}
	return t
}

// twoCookies tells somebody who would come back to this page for ever. Of two cookies of one name nobody can say which
// is ours, so neither counts; this service cannot see which site has set the other, nor remove it.
const twoCookies = "Your browser sends two cookies named open_sso_token, so you would not stay signed in: another " +
	"site of the same domain has set one. Delete the cookies of this domain in the settings of your browser, and then " +
	"sign in."

// authorizeParams reads the authorize request, or the query of the page if there is none.
func authorizeParams(r *http.Request, query string) url.Values {
	if query == "" || isPage(query) {
		query = r.URL.RawQuery
	}
	values, _ := url.ParseQuery(query) // what cannot be read is not there
	return values
}

// Restore is Context for a request that comes back in a form: the application is the one that it
// names, or the zero one if its redirect_uri is not allowed.
func (p *Pages) Restore(ctx context.Context, r *http.Request, query string) (Context, error) {
	app, err := p.AppOf(ctx, query)
	if err != nil {
		return Context{}, err
	}
	return p.Context(r, query, app), nil
}

// AppOf returns the application that an authorize request names, or the zero one if its
// redirect_uri is not allowed.
func (p *Pages) AppOf(ctx context.Context, query string) (storage.App, error) {
	params, _ := url.ParseQuery(query)
	ids, redirects := params["client_id"], params["redirect_uri"]
	if len(ids) != 1 || len(redirects) != 1 {
		return storage.App{}, nil
	}
	app, err := p.apps.App(ctx, ids[0])
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && (app.Disabled || !app.Live(time.Now()) ||
		app.AllowsRedirect(redirects[0]) != nil):
		return storage.App{}, nil
	case err != nil:
		return storage.App{}, err
	}
	return app, nil
}

// UsernameHint returns a login_hint, or a typed text, if it can be a username, else "".
func UsernameHint(hint string) string {
	if len(usernames.Keys(hint)) == 0 {
		return ""
	}
	return strings.TrimSpace(hint)
}

// LangFor returns the language of a sign-in: that of the authorize request, or of the browser.
func LangFor(r *http.Request, query string) string {
	return string(page.LangOf(r, authorizeParams(r, query).Get("ui_locales")))
}

// ByEmail returns where a user signs in with a code by email, "" if they cannot.
func (t Context) ByEmail(u storage.User) string {
	i := slices.IndexFunc(t.signInLinks, Link.ByEmail)
	if i < 0 || u.Email == "" || !u.EmailVerified {
		return ""
	}
	return t.signInLinks[i].Path
}
