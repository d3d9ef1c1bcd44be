package enrol

import (
	"errors"
	"net/http"

	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// errRefused says that a change was not made, which the page explains.
var errRefused = errors.New("enrol: the change is refused")

func (p *Page) remove(r request) error {
	before, after, err := p.changed(r, func(f *storage.Factors) error {
		if f.Authenticator == nil {
			return errRefused
		}
		f.Authenticator, f.AppSecret = nil, storage.Secret{}
		if !p.Keeps(r.u, *f) {
			return errRefused
		}
		if !f.Any() {
			f.Recovery = nil
		}
		f.Epoch++
		return nil
	})
	switch {
	case errors.Is(err, errRefused) && before.Authenticator == nil:
		return web.SeeOther(r.w, Path)
	case errors.Is(err, errRefused):
		return p.list(r.w, r.Request, r.v, r.u, before, http.StatusBadRequest,
			"A second factor is required of you, and this is your only one. For another phone, set up its app instead: it "+
				"takes the place of this one.")
	case err != nil:
		return err
	}
	if err := p.told(r.Request, r.u, before, after, "The authenticator app was removed."); err != nil {
		return err
	}
	return web.SeeOther(r.w, Path)
}

// renew serves the form that draws new recovery codes.
func (p *Page) renew(r request) error {
	var shown []string
	before, after, err := p.changed(r, func(f *storage.Factors) error {
		if !f.Any() {
			return errRefused
		}
		shown, f.Recovery = factor.DrawRecovery()
		return nil
	})
	if errors.Is(err, errRefused) {
		return web.SeeOther(r.w, Path)
	}
	if err != nil {
		return err
	}
	if err := p.told(r.Request, r.u, before, after, "New recovery codes were made; the old ones have ended."); err != nil {
		return err
	}
	return p.showCodes(r.w, r.Request, r.u, web.AccountPath, shown, Path)
}

// forget serves the form that ends the trust of browsers.
func (p *Page) forget(r request) error {
	before, after, err := p.changed(r, func(f *storage.Factors) error {
		if !f.Any() {
			return errRefused
		}
		f.Epoch++
		return nil
	})
	if errors.Is(err, errRefused) {
		return web.SeeOther(r.w, Path)
	}
	if err != nil {
		return err
	}
	if err := p.told(r.Request, r.u, before, after, "Every browser is asked for the second factor again."); err != nil {
		return err
	}
	return web.SeeOther(r.w, Path)
}

// changed is factor.Factors.Change with the state before. A session that does not prove a factor which has been added
// since it was looked at changes nothing.
func (p *Page) changed(r request, change func(f *storage.Factors) error) (before, after storage.Factors, err error) {
	after, err = p.Change(r.Context(), r.u.Sub, func(f *storage.Factors) error {
		if before = *f; !factor.Fresh(r.v, *f) {
			return errRefused
		}
		return change(f)
	})
	return before, after, err
}

// codes holds recovery codes, to be shown once.
type codes struct {
	web.View
	Codes []string
	Next  string // where the page leads
}

// showCodes shows recovery codes, which are nowhere else.
func (p *Page) showCodes(w http.ResponseWriter, r *http.Request, u storage.User, query string, shown []string,
	next string) error {
	t, err := p.Pages.Restore(r.Context(), r, query)
	if err != nil {
		return err
	}
	own := codes{View: web.ViewOf(u), Codes: shown, Next: next}
	own.Title = "Your recovery codes"
	w.Header().Set("Cache-Control", "no-store")
	return t.Show(w, http.StatusOK, codesPage, &own)
}
