package enrol

import (
	"errors"
	"net/http"

	"github.com/keystile/keystile/oauth/signin/internal/factor"
	"github.com/keystile/keystile/oauth/signin/internal/web"
)

// waiting finds the sign-in that waits in the browser of a request, or answers that there is none.
func (p *Page) waiting(w http.ResponseWriter, r *http.Request, do func(factor.Pending) error) error {
	one, err := p.Enrolment(r)
	if err == nil {
		err = do(one)
	}
	switch {
	case errors.Is(err, factor.ErrHas):
		return p.Pages.ShowFormWithAlert(w, r, http.StatusConflict, one.Query(),
			"A second factor was set up meanwhile. Sign in again and use it.")
	case errors.Is(err, factor.ErrEnded):
		return p.Pages.ShowFormWithAlert(w, r, http.StatusBadRequest, "",
			"This sign-in was begun in another browser, or too long ago. Begin again.")
	}
	return err
}

func (p *Page) enrol(w http.ResponseWriter, r *http.Request) error {
	var in map[string]string
	if r.Method == http.MethodPost {
		var err error
		if in, err = p.Pages.ReadFields(w, r, "code", "instead"); err != nil {
			return err
		}
	}
	return p.waiting(w, r, func(one factor.Pending) error {
		of := who{u: one.User, f: one.Factors, bound: one.Bound(), path: factor.EnrolPath, query: one.Query(), p: &one}
		if r.Method == http.MethodPost {
			return p.confirm(w, r, of, in)
		}
		return p.showApp(w, r, of, http.StatusOK, "")
	})
}

// reminder holds what the page shows that says until when there is time.
type reminder struct {
	web.View
	Until        string
	Enrol, Later string
}

func (p *Page) remind(w http.ResponseWriter, r *http.Request) error {
	return p.waiting(w, r, func(one factor.Pending) error {
		until := p.Until(one)
		if until.IsZero() {
			return web.SeeOther(w, factor.EnrolPath)
		}
		t, err := p.Pages.Restore(r.Context(), r, one.Query())
		if err != nil {
			return err
		}
		own := reminder{View: web.ViewOf(one.User), Until: web.DayOf(t.Lang, until), Enrol: factor.EnrolPath,
			Later: factor.LaterPath}
		own.Title = "Set up a second factor"
		return t.Show(w, http.StatusOK, remindPage, &own)
	})
}

// later serves the form that goes on without.
func (p *Page) later(w http.ResponseWriter, r *http.Request) error {
	if _, err := p.Pages.ReadFields(w, r); err != nil {
		return err
	}
	return p.waiting(w, r, func(one factor.Pending) error { return p.Later(w, r, one) })
}
