package ui

import (
	"cmp"
	"errors"
	"net/http"
	"path"
	"slices"
	"time"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/reply"
)

// act does what a form asks for.
func (s *Server) act(w http.ResponseWriter, r *http.Request, p Page, who admin.Actor) error {
	if p.Begin != nil {
		ctx, leave, err := p.Begin(r.Context(), who.Sub)
		if err != nil {
			return err
		}
		defer leave()
		r = r.WithContext(ctx)
	}
	f, err := s.receive(w, r, cmp.Or(p.MaxForm, maxForm), who)
	if err != nil {
		return err
	}
	act, ok := p.Acts[r.PostForm.Get("do")]
	if !ok {
		return staleForm
	}
	checks := append(slices.Clone(act.May), admin.Actor.Fresh)
	if act.Stale {
		checks[len(checks)-1] = admin.Actor.Proven
	}
	for _, check := range checks {
		err := check(who)
		if s.c.SignIn != nil && (errors.Is(err, admin.SignInAgain) || errors.Is(err, admin.FactorFirst)) {
			return s.askAgain(w, r, p, who, f)
		}
		if err != nil {
			return err
		}
	}
	result, err := s.do(w, r, act, who, f.session)
	if err != nil {
		return s.refuse(w, r, p, who, err)
	}
	if act.File != nil {
		return act.File(w, result)
	}
	return s.afterwards(w, r, p, act, who, result)
}

// back returns where to go after a sign-in: the page that was asked for or, where there is nothing to look at, the one
// above it.
func (p Page) back(r *http.Request) string {
	if p.Get == nil {
		return path.Dir(r.URL.Path)
	}
	return r.URL.RequestURI()
}

// refuse answers a form that was not done: with the page and what was typed, where that can be mended.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, p Page, who admin.Actor, err error) error {
	f, m := reply.FailureOf(err), (*Mistyped)(nil)
	mistyped := errors.As(err, &m)
	lost := !mistyped && (f.Status == http.StatusForbidden || f.Status == http.StatusNotFound)
	if p.Get == nil || f.Status >= 500 || lost {
		return err
	}
	v := s.view(r, p, who)
	v.Alert, v.typed, v.wrong = v.Says(f.Msg), r.PostForm, wrongField(f.Msg, r.PostForm)
	if mistyped {
		v.wrong = m.Field
	}
	return s.show(w, r, p, v, f.Status)
}

// do runs an act once. The id of the form, which was shown in a session, is used up first, so that of two sendings one
// acts.
func (s *Server) do(w http.ResponseWriter, r *http.Request, act Act, who admin.Actor, session string) (any, error) {
	if err := useFormID(r.Context(), s.c.Tickets, r.PostForm.Get("form"), session, r.URL.Path, time.Now()); err != nil {
		return nil, err
	}
	f, err := FieldsOf(r.PostForm, act.Fields)
	if err != nil {
		return nil, err
	}
	return act.Do(w, adminapi.WithFields(r, f), who)
}
