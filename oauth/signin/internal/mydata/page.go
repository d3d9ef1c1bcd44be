package mydata

import (
	"context"
	"embed"
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/apikey"
	"github.com/keystile/keystile/storage/event"
)

// Path is the page, and the target of its form, which answers with the file.
const Path = web.AccountPath + "/data"

//go:embed data.html
var files embed.FS

var dataPage = web.Parse(files, "data")

// Store keeps what the file is made of; *storage.Store implements it.
type Store interface {
	Sessions(ctx context.Context, sub string) ([]storage.Session, error)
	Consents(ctx context.Context, sub string) ([]storage.Consent, error)
	OpenIDs(ctx context.Context, sub string) ([]storage.OpenID, error)
	APIKeys(ctx context.Context, sub string) ([]apikey.Key, error)
	Factors(ctx context.Context, sub string) (storage.Factors, error)
	App(ctx context.Context, id string) (storage.App, error)
}

// Owned knows what users own; *storage.Store implements it.
type Owned interface {
	Apps(ctx context.Context, owner, from string, n int) ([]storage.App, string, error)
	Capabilities(ctx context.Context, owner, from string, n int) ([]storage.Capability, string, error)
}

// Searcher searches the audit trail; *gateway.Trail implements it.
type Searcher interface {
	Search(ctx context.Context, q event.Query) (event.Page, error)
}

// Page serves the page of a user's data.
type Page struct {
	*flow.Steps
	Store  Store
	Logins users.LoginStore
	Owned  Owned    // nil: users own nothing
	Audit  Searcher // nil: there is no trail that can be searched
	Base   string   // the service's origin
}

func (p *Page) Routes() []reply.Route {
	all := []string{http.MethodGet, http.MethodHead, http.MethodPost}
	return []reply.Route{{Path: Path, Methods: all, Handle: p.serve, Fail: web.FailAccount}}
}

// view holds what the page shows.
type view struct {
	web.View
	Confirm bool // it takes another sign-in first
}

func (p *Page) serve(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodPost {
		return p.download(w, r)
	}
	v, u, err := p.Sessions.Visit(r)
	if errors.Is(err, storage.ErrNotFound) {
		return p.ShowSignIn(w, r)
	}
	if err != nil {
		return err
	}
	fresh, _, err := p.Second.Fresh(r.Context(), v)
	if err != nil {
		return err
	}
	own := view{View: web.ViewOf(u), Confirm: !fresh}
	own.Title = "Download your data"
	return p.Pages.Context(r, web.AccountPath, storage.App{}).Show(w, http.StatusOK, dataPage, &own)
}

func (p *Page) download(w http.ResponseWriter, r *http.Request) error {
	if _, err := p.Pages.ReadFields(w, r); err != nil {
		return err
	}
	_, u, _, err := p.VisitFresh(r)
	if errors.Is(err, storage.ErrNotFound) {
		return web.SeeOther(w, Path) // it asks them to sign in
	}
	if err != nil {
		return err
	}
	if err := p.Act(r.Context(), "data", u.Sub); err != nil {
		return err
	}
	now := time.Now().UTC()
	head, err := p.gather(r.Context(), u, now)
	if err != nil {
		return err
	}
	if err := p.Trail.WriteNow(r, event.Account, event.Event{User: u.Sub, Status: http.StatusOK,
		Detail: "own data downloaded"}); err != nil {
		return err
	}
	p.Notices.Notify(r.Context(), u.Sub, p.Notices.FromRequest(r, event.NoticeAccount,
		"All data about you was downloaded."))
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Content-Disposition", `attachment; filename="account-data-`+now.Format("2006-01-02")+`.json"`)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	h.Set("Referrer-Policy", "no-referrer")
	if err := p.write(r.Context(), w, head, u.Sub); err != nil { // the status is sent
		p.Log.InfoContext(r.Context(), "a download of account data broke off", "sub", u.Sub, "error", err)
	}
	return nil
}
