package signin

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/oauth/signin/internal/usernames"
	"github.com/keystile/keystile/storage"
)

// about is a view of who somebody is.
func about(user storage.User) view {
	name := cmp.Or(user.Nickname, user.Name, user.Username)
	return view{Name: name, Letter: page.Brand{Name: name}.Letter(), Username: user.Username}
}

// pageContext is what the pages of one sign-in share.
type pageContext struct {
	lang   page.Lang
	brand  page.Brand
	query  string // the authorize request, fit to be carried
	origin string // where that leads in the end; "" if it does not say, or may not
	hint   string // login_hint
	ways   []way  // to sign in, beside the password
	helps  []way  // to a password or a user
}

func (p *pages) stage(r *http.Request, query string, app storage.App) pageContext {
	asked := ask(r, query)
	t := pageContext{
		lang: page.LangOf(r, asked.Get("ui_locales")), brand: page.BrandOf(app),
		query: query, hint: hinted(asked.Get("login_hint")), ways: p.waysFor(query),
		helps: carrying(p.helps, query),
	}
	if redirect := asked.Get("redirect_uri"); app.AllowsRedirect(redirect) == nil {
		t.origin = storage.RedirectOrigin(redirect)
	}
	return t
}

// ask reads the authorize request, or what stands in the address bar where there is none.
func ask(r *http.Request, query string) url.Values {
	if query == "" || isPage(query) {
		query = r.URL.RawQuery
	}
	values, _ := url.ParseQuery(query) // what cannot be read is not there
	return values
}

// restore is stage for a request that comes back in a form: the application is the one it
// names, if that may send people where the request says. Otherwise there is none.
func (p *pages) restore(ctx context.Context, r *http.Request, query string) (pageContext, error) {
	app, err := p.asker(ctx, query)
	if err != nil {
		return pageContext{}, err
	}
	return p.stage(r, query, app), nil
}

// asker is the application that an authorize request names, if that may send people where
// the request says, else the zero one.
func (p *pages) asker(ctx context.Context, query string) (storage.App, error) {
	asked, _ := url.ParseQuery(query)
	ids, redirects := asked["client_id"], asked["redirect_uri"]
	if len(ids) != 1 || len(redirects) != 1 {
		return storage.App{}, nil
	}
	app, err := p.apps.App(ctx, ids[0])
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && (app.Disabled || app.AllowsRedirect(redirects[0]) != nil):
		return storage.App{}, nil
	case err != nil:
		return storage.App{}, err
	}
	return app, nil
}

// hinted is a login_hint, or what was typed last time, as far as it can be a username.
func hinted(hint string) string {
	if len(usernames.Keys(hint)) == 0 {
		return ""
	}
	return strings.TrimSpace(hint)
}
