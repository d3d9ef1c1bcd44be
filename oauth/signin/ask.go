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

// Ask answers an authorize request that needs somebody to sign in: 200 with the page in
// place. The caller has validated the request, by GET or form POST, for this application;
// if it has read a body, it has put the fields into r.PostForm.
func (s *SignIn) Ask(w http.ResponseWriter, r *http.Request, app storage.App) error {
	query, err := queryOf(r)
	if err != nil {
		return err
	}
	t := s.stage(r, query, app)
	return t.show(w, http.StatusOK, formPage, view{Title: "Sign in", Username: t.hint})
}

// look answers a GET of this room: who is signed in, or the form without an application.
func (s *SignIn) look(w http.ResponseWriter, r *http.Request) error {
	_, user, err := s.visit(r)
	t := s.stage(r, "", storage.App{})
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return t.show(w, http.StatusOK, formPage, view{Title: "Sign in", Username: t.hint})
	case err != nil:
		return err
	}
	v := about(user)
	v.Title = "You are signed in"
	return t.show(w, http.StatusOK, whoPage, v)
}

// about is a view of who somebody is.
func about(user storage.User) view {
	name := cmp.Or(user.Nickname, user.Name, user.Username)
	return view{Name: name, Letter: page.Brand{Name: name}.Letter(), Username: user.Username}
}

// scene is what the pages of one sign-in share.
type scene struct {
	lang   page.Lang
	brand  page.Brand
	query  string // the authorize request, fit to be carried
	origin string // where that leads in the end; "" if it does not say, or may not
	hint   string // login_hint
	ways   []way  // to sign in, beside the password
	helps  []way  // to a password or a user
}

func (s *SignIn) stage(r *http.Request, query string, app storage.App) scene {
	asked := ask(r, query)
	t := scene{
		lang: page.LangOf(r, asked.Get("ui_locales")), brand: page.BrandOf(app),
		query: query, hint: hinted(asked.Get("login_hint")), ways: s.waysFor(query),
		helps: carrying(s.members.helps, query),
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

// restage is stage for a request that comes back in a form: the application is the one it
// names, if that may send people where the request says. Otherwise there is none.
func (s *SignIn) restage(ctx context.Context, r *http.Request, query string) (scene, error) {
	app, err := s.asker(ctx, query)
	if err != nil {
		return scene{}, err
	}
	return s.stage(r, query, app), nil
}

// asker is the application that an authorize request names, if that may send people where
// the request says, else the zero one.
func (s *SignIn) asker(ctx context.Context, query string) (storage.App, error) {
	asked, _ := url.ParseQuery(query)
	ids, redirects := asked["client_id"], asked["redirect_uri"]
	if len(ids) != 1 || len(redirects) != 1 {
		return storage.App{}, nil
	}
	app, err := s.store.App(ctx, ids[0])
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
