package enrol

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/qr"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/totp"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/authn"
)

// who is a person who adds an app: a signed-in user, or one whose sign-in waits for it.
type who struct {
	u     storage.User
	f     storage.Factors
	bound string // what the app belongs to until it is confirmed
	path  string // of the page
	query string // of its look, and where it leads back
	v     storage.Session
	p     *factor.Pending // nil: the user is signed in
}

func (p *Page) app(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodPost {
		return p.act(func(q request) error { return p.confirm(q.w, q.Request, ofSession(q.v, q.u, q.f), q.in) }, "code",
			"instead")(w, r)
	}
	v, u, f, err := p.Steps.VisitFresh(r)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return web.SeeOther(w, Path) // it asks them to sign in
	case errors.Is(err, session.ErrStale):
		return p.Steps.ConfirmFor(w, r, v, u, Path)
	case err != nil:
		return err
	case !p.Offers(u, f):
		return web.SeeOther(w, Path)
	}
	return p.showApp(w, r, ofSession(v, u, f), http.StatusOK, "")
}

func ofSession(v storage.Session, u storage.User, f storage.Factors) who {
	return who{u: u, f: f, bound: v.ID, path: AppPath, query: web.FactorsPath, v: v}
}

// appView holds what the page of an app shows.
type appView struct {
	web.View
	Code            template.HTML
	Secret          []string // in groups of four
	Action, Instead string
	Replaces        bool
	Waits           bool // a sign-in waits for it
}

func (p *Page) showApp(w http.ResponseWriter, r *http.Request, of who, status int, alert string) error {
	t, err := p.Pages.Restore(r.Context(), r, of.query)
	if err != nil {
		return err
	}
	secret, err := p.secret(r, of)
	if err != nil {
		return err
	}
	code, err := qr.SVG(totp.Address(p.Site, of.u.Username, secret), t.Lang.T("QR code for your authenticator app"))
	if err != nil {
		return err
	}
	own := appView{View: web.ViewOf(of.u), Code: code, Action: of.path, Instead: inPlaceOf(of.f),
		Replaces: of.f.Authenticator != nil, Waits: of.p != nil}
	own.Title = "Set up an authenticator app"
	for group := range slices.Chunk([]byte(secret), 4) {
		own.Secret = append(own.Secret, string(group))
	}
	if alert != "" {
		own.Alert = t.Lang.T(alert)
	}
	w.Header().Set("Cache-Control", "no-store")
	return t.Show(w, status, appPage, &own)
}

func (p *Page) secret(r *http.Request, of who) (string, error) {
	key, err := p.Store.HMACKey(r.Context(), "authenticator apps")
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	fmt.Fprintf(mac, "%s %s %d %s", of.bound, of.u.Sub, of.f.Epoch, inPlaceOf(of.f))
	return totp.Secret(mac.Sum(nil)), nil
}

// inPlaceOf names the app that another one replaces, "" if there is none.
func inPlaceOf(f storage.Factors) string {
	if f.Authenticator == nil {
		return ""
	}
	return strconv.FormatInt(f.Authenticator.CreatedAt.UnixNano(), 36)
}

const other = "Another app was set up meanwhile, so this one was not. Remove it from your phone if it is of no use."

// confirm adds an app whose code is right.
func (p *Page) confirm(w http.ResponseWriter, r *http.Request, of who, in map[string]string) error {
	secret, err := p.secret(r, of)
	if err != nil {
		return err
	}
	now := time.Now().UTC()
	step, right := totp.Check(secret, totp.Typed(in["code"]), now, 0)
	switch {
	case !p.Offers(of.u, of.f):
		return web.SeeOther(w, Path)
	case in["instead"] != inPlaceOf(of.f):
		return p.notAdded(w, r, of)
	case strings.TrimSpace(in["code"]) == "":
		return p.showApp(w, r, of, http.StatusBadRequest, "Type in the code that the app shows.")
	case !right:
		return p.showApp(w, r, of, http.StatusBadRequest,
			"The code is not right. Check that the clock of your phone is, and type in the code that the app shows now.")
	}
	if of.p != nil {
		if err := p.UseUp(r, *of.p); err != nil {
			return err
		}
	}
	before, after, shown, err := p.add(r, of, authn.Authenticator{LastStep: step, CreatedAt: now}, secret)
	if errors.Is(err, errRefused) {
		return p.notAdded(w, r, of)
	}
	if err != nil {
		return err
	}
	if err := p.told(r, of.u, before, after, "An authenticator app was set up for your sign-in."); err != nil {
		return err
	}
	return p.goOn(w, r, of, shown)
}

// add adds an app, unless what the user has is no longer what they were shown. It returns recovery codes if there were
// none left.
func (p *Page) add(r *http.Request, of who, a authn.Authenticator,
	secret string) (before, after storage.Factors, shown []string, err error) {
	after, err = p.Change(r.Context(), of.u.Sub, func(f *storage.Factors) error {
		before, shown = *f, nil
		if inPlaceOf(*f) != inPlaceOf(of.f) || of.p != nil && f.Any() || of.p == nil && !factor.Fresh(of.v, *f) {
			return errRefused
		}
		if f.Authenticator != nil {
			f.Epoch++
		}
		f.WrongCodes = 0 // those were of another app
		f.Authenticator, f.AppSecret, f.DueSince = &a, storage.NewSecret(secret), time.Time{}
		if f.CodesLeft() == 0 {
			shown, f.Recovery = factor.DrawRecovery()
		}
		return nil
	})
	return before, after, shown, err
}

// notAdded says that another app, or another factor, was added first.
func (p *Page) notAdded(w http.ResponseWriter, r *http.Request, of who) error {
	if of.p != nil {
		return p.Pages.ShowFormWithAlert(w, r, http.StatusConflict, of.query, other)
	}
	f, err := p.Store.Factors(r.Context(), of.u.Sub)
	if err != nil {
		return err
	}
	return p.list(w, r, of.v, of.u, f, http.StatusConflict, other)
}

// goOn begins a session that has proved the app, and shows the recovery codes on the way.
func (p *Page) goOn(w http.ResponseWriter, r *http.Request, of who, shown []string) (err error) {
	to := Path
	if of.p != nil {
		to, err = p.Enrolled(w, r, *of.p, authn.AMRCode)
	} else {
		err = p.Sessions.Begin(w, r, of.u, session.ProofOf(of.v).With(authn.AMRCode), web.LangFor(r, ""))
	}
	if err != nil {
		return err
	}
	if shown == nil {
		return web.SeeOther(w, to)
	}
	return p.showCodes(w, r, of.u, of.query, shown, to)
}
