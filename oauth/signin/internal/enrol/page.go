package enrol

import (
	"embed"
	"errors"
	"net/http"
	"strconv"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// The paths of a signed-in user's pages and forms. Those of a sign-in that waits are in package factor.
const (
	Path       = web.FactorsPath
	AppPath    = Path + "/app"
	RemovePath = AppPath + "/remove"
	CodesPath  = Path + "/codes"
	ForgetPath = Path + "/forget"
	AgainPath  = Path + "/confirm" // signs in once more
)

//go:embed factors.html app.html codes.html remind.html
var files embed.FS

var (
	factorsPage = web.Parse(files, "factors")
	appPage     = web.Parse(files, "app")
	codesPage   = web.Parse(files, "codes")
	remindPage  = web.Parse(files, "remind")
)

// Page serves the pages of a user's second factors.
type Page struct {
	*factor.Factors
	Steps    *flow.Steps
	Site     string   // what apps call the service
	Passkeys web.Link // where users manage passkeys; the zero Link: nowhere
	Named    string   // the address of this service that passkeys would be kept for; "": it has none, or they are
}

func (p *Page) Routes() []reply.Route {
	all := []string{http.MethodGet, http.MethodHead, http.MethodPost}
	read, post := all[:2], all[2:]
	return []reply.Route{
		{Path: Path, Methods: read, Handle: p.show, Fail: web.FailAccount},
		{Path: AppPath, Methods: all, Handle: p.app, Fail: web.FailAccount},
		{Path: RemovePath, Methods: post, Handle: p.act(p.remove), Fail: web.FailAccount},
		{Path: CodesPath, Methods: post, Handle: p.act(p.renew), Fail: web.FailAccount},
		{Path: ForgetPath, Methods: post, Handle: p.act(p.forget), Fail: web.FailAccount},
		{Path: AgainPath, Methods: read, Handle: p.again, Fail: web.FailAccount},
		{Path: factor.RemindPath, Methods: read, Handle: p.remind, Fail: web.Fail},
		{Path: factor.LaterPath, Methods: post, Handle: p.later, Fail: web.Fail},
		{Path: factor.EnrolPath, Methods: all, Handle: p.enrol, Fail: web.Fail},
	}
}

// view holds what the page of all factors shows.
type view struct {
	web.View
	App           *row   // nil: there is none
	PasskeyCount  string // "": none
	Passkeys      web.Link
	Named         string
	Any           bool
	Offered       bool   // an app may be added
	Left          string // recovery codes; "": none
	Few           bool
	Confirm       bool // changes take another sign-in
	Due, Required bool
	Until         string // the day on which it is due
}

// counted is a number in words of a page, "" for none.
func counted(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// row is an app in the list.
type row struct {
	Since web.Moment
	Used  string // a day; "": never
}

func (p *Page) show(w http.ResponseWriter, r *http.Request) error {
	v, u, err := p.Sessions.Visit(r)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		t := p.Pages.Context(r, Path, storage.App{})
		return t.Show(w, http.StatusOK, web.FormPage, &web.View{Title: "Sign in", Username: t.Hint})
	case err != nil:
		return err
	}
	f, err := p.Store.Factors(r.Context(), u.Sub)
	if err != nil {
		return err
	}
	return p.list(w, r, v, u, f, http.StatusOK, "")
}

func (p *Page) list(w http.ResponseWriter, r *http.Request, v storage.Session, u storage.User, f storage.Factors,
	status int, alert string) error {
	t := p.Pages.Context(r, web.AccountPath, storage.App{})
	own := view{
		View: web.ViewOf(u), PasskeyCount: counted(len(f.Passkeys)), Passkeys: p.Passkeys,
		Named: p.Named, Any: f.Any(),
		Offered: p.Offers(u, f),
		Left:    counted(f.CodesLeft()), Few: factor.FewCodes(f), Confirm: !factor.Fresh(v, f),
		Required: !p.Keeps(u, storage.Factors{}),
	}
	own.Title = "Two-step sign-in"
	if a := f.Authenticator; a != nil {
		own.App = &row{Since: web.MomentOf(t.Lang, a.CreatedAt)}
		if !a.UsedAt.IsZero() {
			own.App.Used = web.DayOf(t.Lang, a.UsedAt)
		}
	}
	if due := p.Due(u, f); !due.IsZero() {
		own.Due, own.Until = true, web.DayOf(t.Lang, due)
	}
	if alert != "" {
		own.Alert = t.Lang.T(alert)
	}
	return t.Show(w, status, factorsPage, &own)
}

// again serves the sign-in form once more, which leads back to the page.
func (p *Page) again(w http.ResponseWriter, r *http.Request) error {
	v, u, err := p.Sessions.Visit(r)
	if errors.Is(err, storage.ErrNotFound) {
		return web.SeeOther(w, Path) // it asks them to sign in
	}
	if err != nil {
		return err
	}
	return p.Steps.ConfirmFor(w, r, v, u, Path)
}

// request is a form of a signed-in user whose sign-in is recent.
type request struct {
	*http.Request
	w  http.ResponseWriter
	v  storage.Session
	u  storage.User
	f  storage.Factors
	in map[string]string
}

// act returns the handler of a form, which does something for a user with a recent sign-in.
func (p *Page) act(do func(request) error, fields ...string) reply.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) error {
		in, err := p.Pages.ReadFields(w, r, fields...)
		if err != nil {
			return err
		}
		v, u, f, err := p.Steps.VisitFresh(r)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			return web.SeeOther(w, Path) // it asks them to sign in
		// the app's secret is of this session, so it is another one then
		case errors.Is(err, session.ErrStale) && r.URL.Path == AppPath:
			return p.Steps.ConfirmFor(w, r, v, u, Path)
		case err != nil:
			return err
		}
		return do(request{r, w, v, u, f, in})
	}
}

// told notes a change on the trail, and notifies the user of it.
func (p *Page) told(r *http.Request, u storage.User, before, after storage.Factors, what string) error {
	p.Log.InfoContext(r.Context(), "second factors changed", "sub", u.Sub, "ip", p.Peer(r))
	p.Notices.Notify(r.Context(), u.Sub, p.Notices.FromRequest(r, event.NoticeAccount, what))
	return p.Trail.Changed(r, u.Sub, "second factors", before.Summary(), after.Summary())
}
