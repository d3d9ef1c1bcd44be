package otp

import (
	"embed"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/attempt"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/totp"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

//go:embed address.html code.html expired.html
var files embed.FS

var (
	addressPage = web.Parse(files, "address")
	codePage    = web.Parse(files, "code")
	expiredPage = web.Parse(files, "expired")
)

// codeView holds what the pages of a code by email show.
type codeView struct {
	web.View
	Flow    *Flow
	Address string // that the code is sent to
	Again   string // the path to request a new code
	Invited bool   // the page asks newcomers for an invitation
}

func codeViewOf(e *Flow, v web.View, address string) *codeView {
	return &codeView{View: v, Flow: e, Address: address}
}

func (s *Codes) serveAddress(w http.ResponseWriter, r *http.Request, e *Flow) error {
	if r.Method == http.MethodPost {
		return s.takeAddress(w, r, e)
	}
	query, err := web.QueryParam(r)
	if err != nil {
		return err
	}
	switch v, u, err := e.requester(s, r); {
	case errors.Is(err, storage.ErrNotFound):
		return web.SeeOther(w, web.FormPath)
	case errors.Is(err, session.ErrStale):
		return s.ConfirmFor(w, r, v, u, web.AccountPath)
	case err != nil:
		return err
	}
	t, err := s.Pages.Restore(r.Context(), r, query)
	if err != nil {
		return err
	}
	hint, _ := users.NormalizeEmail(t.Hint)
	return s.showAddress(w, t, e, http.StatusOK, "", hint)
}

func (s *Codes) showAddress(w http.ResponseWriter, t web.Context, e *Flow, status int, alert, address string) error {
	view := codeViewOf(e, web.View{Title: e.Title, Alert: alert}, address)
	view.Invited = s.asksFor(e)
	return t.Show(w, status, addressPage, view)
}

// asksFor reports whether newcomers need an invitation to get the code of a flow.
func (s *Codes) asksFor(e *Flow) bool { return e == SignInFlow && s.invited() }

func (e *Flow) requester(s *Codes, r *http.Request) (v storage.Session, u storage.User, err error) {
	if e.user == nil {
		return v, u, nil
	}
	return e.user(s, r)
}

// takeAddress sends a code and redirects to the page that asks for it. Known and unknown addresses
// are answered alike.
func (s *Codes) takeAddress(w http.ResponseWriter, r *http.Request, e *Flow) error {
	in, err := s.Pages.ReadCarried(w, r, "address", "invitation")
	if err != nil {
		return err
	}
	if err := web.CheckLength(r, in["query"]); err != nil {
		return err
	}
	_, u, err := e.requester(s, r)
	if errors.Is(err, storage.ErrNotFound) {
		return web.SeeOther(w, web.FormPath)
	}
	if err != nil {
		return err
	}
	t, err := s.Pages.Restore(r.Context(), r, in["query"])
	if err != nil {
		return err
	}
	address, err := users.NormalizeEmail(in["address"])
	if err != nil {
		return s.showAddress(w, t, e, http.StatusBadRequest,
			t.Lang.T("This is not an email address. Check it for mistakes; it looks like name@example.com."),
			ShownAddress(in["address"]))
	}
	invitation, wait, err := s.invitationIn(r, e, in["invitation"])
	switch {
	case wait > 0:
		return s.Pages.ShowThrottled(w, r, in["query"], wait, false)
	case errors.Is(err, storage.ErrNotFound):
		return s.showAddress(w, t, e, http.StatusUnauthorized, t.Lang.T(web.InvitationWrong), address)
	case err != nil:
		return err
	}
	wait, err = s.Send(w, r, e, t.Lang, storage.Ticket{Subject: address, UserID: u.Sub, Query: in["query"],
		Invitation: invitation})
	if err != nil {
		return err
	}
	if wait > 0 {
		w.Header().Set("Retry-After", web.InSeconds(wait))
		return s.showAddress(w, t, e, http.StatusTooManyRequests, waitText(t.Lang, wait), address)
	}
	return web.SeeOther(w, e.CodePath())
}

// invitationIn returns the ID of the invitation that a person has typed, "" of none where the flow asks for none.
func (s *Codes) invitationIn(r *http.Request, e *Flow, typed string) (id string, wait time.Duration, err error) {
	if !s.asksFor(e) || strings.TrimSpace(typed) == "" {
		return "", 0, nil
	}
	return s.Invited(r, s.Invitations, typed)
}

// ShownAddress returns a typed address, cut to be shown again.
func ShownAddress(text string) string { return text[:min(len(text), 254)] }

func (s *Codes) serveCode(w http.ResponseWriter, r *http.Request, e *Flow) error {
	if r.Method == http.MethodPost {
		return s.takeCode(w, r, e)
	}
	ticket, err := s.ticketOf(r.Context(), e.Kind, web.BrowserSecret(r))
	switch {
	case errors.Is(err, ErrExpired):
		return s.showExpired(w, r, e)
	case err != nil:
		return err
	}
	return s.showCodeForm(w, r, e, ticket, http.StatusOK, "")
}

// takeCode checks a typed code. Every one of six digits uses up one of the five tries.
func (s *Codes) takeCode(w http.ResponseWriter, r *http.Request, e *Flow) error {
	in, err := s.Pages.ReadFields(w, r, "code", "password")
	if err != nil {
		return err
	}
	ticket, err := s.ticketOf(r.Context(), e.Kind, web.BrowserSecret(r))
	switch {
	case errors.Is(err, ErrExpired):
		return s.showExpired(w, r, e)
	case err != nil:
		return err
	}
	code := totp.Typed(in["code"])
	if code == "" {
		return s.showCodeForm(w, r, e, ticket, http.StatusBadRequest,
			"The code has six digits. You will find it in the email.")
	}
	if e.NewPassword {
		if err := passwords.Check(in["password"], ticket.Subject); err != nil {
			return s.showCodeForm(w, r, e, ticket, http.StatusBadRequest, passwords.Explain(err))
		}
	}
	ticket, u, throttle, err := s.prove(r, e, ticket, code, in["password"])
	return s.answerProof(w, r, e, ticket, u, in["password"], throttle, err)
}

func (s *Codes) answerProof(w http.ResponseWriter, r *http.Request, e *Flow, t storage.Ticket, u storage.User,
	password string, throttle attempt.Throttle, err error) error {
	switch {
	case throttle.Wait > 0:
		s.Trail.Refused(r, http.StatusTooManyRequests, "")
		return s.Pages.ShowThrottled(w, r, t.Query, throttle.Wait, throttle.Account)
	case errors.Is(err, ErrExpired):
		return s.showExpired(w, r, e)
	case errors.Is(err, storage.ErrNotFound):
		s.Trail.Refused(r, http.StatusUnauthorized, throttle.Sub)
		if t.Tries >= Tries {
			return s.showExpired(w, r, e)
		}
		return s.showCodeForm(w, r, e, t, http.StatusUnauthorized, "The code is not right. Check it and try again.")
	case errors.Is(err, storage.ErrInvalid):
		return s.showCodeForm(w, r, e, t, http.StatusBadRequest, passwords.Explain(err))
	case err != nil:
		return err
	}
	return e.finish(s, w, r, t, u, password)
}

func (s *Codes) showCodeForm(w http.ResponseWriter, r *http.Request, e *Flow, ticket storage.Ticket, status int,
	alert string) error {
	t, err := s.Pages.Restore(r.Context(), r, ticket.Query)
	if err != nil {
		return err
	}
	if alert != "" {
		alert = t.Lang.T(alert)
	}
	return t.Show(w, status, codePage, codeViewOf(e, web.View{Title: e.CodeTitle, Alert: alert, Secret: e.NewPassword},
		ticket.Subject))
}

// showExpired says that there is no code to type in any more: 400, with the way to a new one.
func (s *Codes) showExpired(w http.ResponseWriter, r *http.Request, e *Flow) error {
	t := s.Pages.Context(r, "", storage.App{})
	if old, err := s.Store.Ticket(r.Context(), TicketID(e.Kind, web.BrowserSecret(r))); err == nil {
		if t, err = s.Pages.Restore(r.Context(), r, old.Query); err != nil { // the way back to the application is kept
			return err
		}
	} else if !errors.Is(err, storage.ErrNotFound) {
		return err
	}
	return t.Show(w, http.StatusBadRequest, expiredPage, &codeView{
		View: web.View{
			Title: "This code has ended",
			Alert: t.Lang.T("A code works once, for 10 minutes, for five tries and in the browser that asked for it. Ask for " +
				"a new one."),
		},
		Flow: e, Again: web.Link{Path: e.Path}.Carrying(t.Query).Path,
	})
}
