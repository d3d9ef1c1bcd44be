package deletion

import (
	"context"
	"embed"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// Path is the page, and the target of its form.
const Path = web.AccountPath + "/delete"

//go:embed delete.html done.html
var files embed.FS

var (
	deletePage = web.Parse(files, "delete")
	donePage   = web.Parse(files, "done")
)

// Page serves the page on which users delete their account.
type Page struct {
	*flow.Steps
	Erase   Eraser
	Ask     bool   // an operator does it: Erase is not called
	Contact string // where users reach the operator, an email address or another text; "": it is not said

	// CountOwned returns how much a user (a sub) owns. Nil: users own nothing.
	CountOwned func(ctx context.Context, sub string) (apps, capabilities int, err error)
	Download   bool // there is a page to download the data from
}

func (p *Page) Routes() []reply.Route {
	all := []string{http.MethodGet, http.MethodHead, http.MethodPost}
	return []reply.Route{{Path: Path, Methods: all, Handle: p.serve, Fail: web.FailAccount}}
}

// view holds what the pages show.
type view struct {
	web.View
	Ask, Download, Confirm bool
	Owns                   string // what has to be handed over first; "": nothing
	Contact, ContactLink   string
}

func (p *Page) serve(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodPost {
		return p.submit(w, r)
	}
	v, u, err := p.Sessions.Visit(r)
	if errors.Is(err, storage.ErrNotFound) {
		return p.ShowSignIn(w, r)
	}
	if err != nil {
		return err
	}
	return p.show(w, r, v, u, http.StatusOK, "")
}

// show shows the page; with an alert, in English, once more.
func (p *Page) show(w http.ResponseWriter, r *http.Request, v storage.Session, u storage.User, status int,
	alert string) error {
	t := p.Pages.Context(r, web.AccountPath, storage.App{})
	fresh, _, err := p.Second.Fresh(r.Context(), v)
	if err != nil {
		return err
	}
	own := view{View: web.ViewOf(u), Ask: p.Ask, Download: p.Download, Confirm: !fresh}
	if !p.Ask && p.CountOwned != nil {
		apps, capabilities, err := p.CountOwned(r.Context(), u.Sub)
		if err != nil {
			return err
		}
		if apps+capabilities > 0 {
			own.Owns = handOver(t.Lang, apps, capabilities)
		}
	}
	own.Title = "Delete your account"
	if alert != "" {
		own.Alert = t.Lang.T(alert)
	}
	return t.Show(w, status, deletePage, &own)
}

func handOver(l page.Lang, apps, capabilities int) string {
	return l.T("You own %s applications and %s capabilities. Hand them over or delete them first: in the console, or "+
		"with the help of an administrator.", strconv.Itoa(apps), strconv.Itoa(capabilities))
}

func (p *Page) submit(w http.ResponseWriter, r *http.Request) error {
	in, err := p.Pages.ReadFields(w, r, "confirm")
	if err != nil {
		return err
	}
	v, u, _, err := p.VisitFresh(r)
	if errors.Is(err, storage.ErrNotFound) {
		return web.SeeOther(w, Path) // it asks them to sign in
	}
	if err != nil {
		return err
	}
	if err := p.Act(r.Context(), "delete", u.Sub); err != nil {
		return err
	}
	if strings.TrimSpace(in["confirm"]) != u.Username {
		return p.show(w, r, v, u, http.StatusBadRequest, "Type your username exactly as it stands above the field.")
	}
	if p.Ask {
		return p.ask(w, r, u)
	}
	err = p.erase(r, u)
	switch {
	case err != nil && p.gone(r, u.Sub):
		p.Log.ErrorContext(r.Context(), "an account is not wholly deleted: erase it once more", "sub", u.Sub, "error", err)
		p.Sessions.ClearCookie(w)
		return web.HalfDeleted.Because(err)
	case errors.Is(err, storage.ErrStillOwns):
		return p.show(w, r, v, u, http.StatusConflict, "You own something here. Hand it over first.")
	case errors.Is(err, storage.ErrLastAdmin):
		return p.show(w, r, v, u, http.StatusConflict,
			"You are the last administrator here. Make somebody else an administrator first.")
	case err != nil:
		return err
	}
	p.Sessions.ClearCookie(w)
	t := p.Pages.Context(r, "", storage.App{})
	return t.Show(w, http.StatusOK, donePage, &view{View: web.View{Title: "Your account is deleted"}})
}

// ask writes down that a user wants their account deleted.
func (p *Page) ask(w http.ResponseWriter, r *http.Request, u storage.User) error {
	if err := p.Trail.WriteNow(r, event.Account, event.Event{User: u.Sub, Status: http.StatusOK,
		Detail: "asks for the account to be deleted"}); err != nil {
		return err
	}
	p.Notices.Notify(r.Context(), u.Sub, p.Notices.FromRequest(r, event.NoticeAccount,
		"You have asked for your account to be deleted."))
	own := view{View: web.ViewOf(u), Ask: true, Contact: p.Contact}
	own.Title = "You have asked for it"
	if address, err := users.NormalizeEmail(p.Contact); err == nil {
		own.ContactLink = "mailto:" + address
	} else if strings.HasPrefix(p.Contact, "https://") {
		own.ContactLink = p.Contact
	}
	return p.Pages.Context(r, web.AccountPath, storage.App{}).Show(w, http.StatusOK, donePage, &own)
}

// gone reports whether a user can sign in no longer. Where nobody knows they can, and may try again.
func (p *Page) gone(r *http.Request, sub string) bool {
	u, err := p.Sessions.Users.User(context.WithoutCancel(r.Context()), sub)
	return errors.Is(err, storage.ErrNotFound) || err == nil && u.Disabled
}
