package kept

import (
	"bytes"
	"embed"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

//go:embed on.html
var files embed.FS

var onPage = web.Parse(files, "on")

func (k *Forms) Routes() []reply.Route {
	return []reply.Route{
		{Path: web.GoOnPath, Methods: []string{http.MethodGet, http.MethodHead}, Handle: k.goOn, Fail: web.FailAccount},
	}
}

// view holds what the page shows.
type view struct {
	web.View
	Action    string
	Elsewhere string // where who does not want it goes
}

// goOn serves the page from which a kept form goes on, once its user has confirmed who they are. It says what the form
// does, and its user sends it: no script does, since another person may have filled it in while they were away.
func (k *Forms) goOn(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Path + "?" + r.URL.RawQuery
	id, to, ok := web.ReadGoOn(query)
	if !ok {
		return web.KeptGone
	}
	v, u, _, err := k.VisitFresh(r)
	switch t := k.Pages.Context(r, query, storage.App{}); {
	case errors.Is(err, storage.ErrNotFound):
		return t.Show(w, http.StatusOK, web.FormPage, &web.View{Title: "Sign in", Username: t.Hint})
	case errors.Is(err, session.ErrStale):
		return k.Second.Confirm(w, r, v, u, query, whyKept)
	case err != nil:
		return err
	}
	at, err := url.ParseRequestURI(to)
	var about web.About
	if err == nil {
		about, err = k.about(r, u, id, at.Path)
	}
	switch {
	case errors.Is(err, errGone): // a page of another site has made up the address, perhaps
		return web.KeptGone
	case err != nil:
		return err
	}
	own := view{View: web.ViewOf(u), Action: to + "?", Elsewhere: web.AccountPath}
	if web.IsConsole(to) {
		own.Elsewhere = to
	}
	if strings.Contains(to, "?") {
		own.Action = to + "&"
	}
	own.Action += web.ParamKept + "=" + id
	own.Title, own.Away = "Your form goes on", strings.HasPrefix(to, web.WithPath)
	t := k.Pages.Context(r, web.AccountPath, storage.App{})
	t.About, t.Origin = about, about.Leads
	return t.Show(w, http.StatusOK, onPage, &own)
}

// Keeping returns routes whose forms are kept: a handler returns session.ErrStale before it has done or written
// anything, and its user is asked to confirm who they are and the form sent on then.
func (k *Forms) Keeping(routes []reply.Route) []reply.Route {
	routes = slices.Clone(routes)
	for i, route := range routes {
		if slices.Contains(route.Methods, http.MethodPost) {
			routes[i].Handle = k.keeping(route.Handle)
		}
	}
	return routes
}

func (k *Forms) keeping(next reply.HandlerFunc) reply.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		if r.Method != http.MethodPost {
			return next(w, r)
		}
		if err := k.Pages.CheckOrigin(r); err != nil {
			return err
		}
		if _, err := k.Take(w, r); errors.Is(err, storage.ErrNotFound) { // signed out meanwhile
			return web.SeeOther(w, web.GoOn(r.URL.Query().Get(web.ParamKept), r.URL.Path))
		} else if err != nil {
			return err
		}
		body, err := web.ReadAll(w, r)
		if err != nil {
			return err
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		stale := next(w, r)
		if !errors.Is(stale, session.ErrStale) {
			return stale
		}
		v, u, err := k.Sessions.Visit(r)
		if errors.Is(err, storage.ErrNotFound) {
			return web.SeeOther(w, web.AccountPath) // it asks them to sign in
		}
		if err != nil {
			return err
		}
		return k.Ask(w, r, v, u, v.ID, body, k.told(r, stale, body))
	}
}
