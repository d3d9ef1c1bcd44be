package signup

import (
	"embed"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/oauth/signin/internal/flow"
	"github.com/keystile/keystile/oauth/signin/internal/otp"
	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/usernames"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// Path is the path of the page to sign up.
const Path = web.FormPath + "/signup"

//go:embed join.html
var files embed.FS

var page = web.Parse(files, "join")

// view holds the data of the page to sign up.
type view struct {
	web.View
	Address        string
	Email, Invited bool   // whether it asks for an address, for an invitation
	Invitation     string // as typed
}

// SignUp creates accounts by a form.
type SignUp struct {
	*flow.Steps
	Users   users.SignUpUsers
	Invited bool // only with the code of a storage.Invitation
	Emails  bool // the form asks for an email address
	Codes   *otp.Codes
}

func (s *SignUp) Routes() []reply.Route {
	return []reply.Route{{Path: Path, Methods: []string{http.MethodGet, http.MethodHead, http.MethodPost}, Handle: s.serve,
		Fail: web.Fail}}
}

func (s *SignUp) serve(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodPost {
		return s.submit(w, r)
	}
	query, err := web.QueryParam(r)
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, map[string]string{"query": query}, "")
}

func (s *SignUp) show(w http.ResponseWriter, r *http.Request, status int, in map[string]string, alert string) error {
	t, err := s.Pages.Restore(r.Context(), r, in["query"])
	if err != nil {
		return err
	}
	if alert != "" {
		alert = t.Lang.T(alert)
	}
	return t.Show(w, status, page, &view{
		View:    web.View{Title: "Create an account", Username: web.UsernameHint(in["username"]), Alert: alert, Secret: true},
		Address: otp.ShownAddress(in["address"]), Email: s.Emails, Invited: s.Invited, Invitation: in["invitation"],
	})
}

func (s *SignUp) submit(w http.ResponseWriter, r *http.Request) error {
	in, err := s.Pages.ReadCarried(w, r, "username", "password", "address", "invitation")
	if err != nil {
		return err
	}
	address, alert := s.check(in)
	if address != "" { // it is kept until the address is confirmed
		if err := web.CheckLength(r, in["query"]); err != nil {
			return err
		}
	}
	if alert != "" {
		return s.show(w, r, http.StatusBadRequest, in, alert)
	}
	u, wait, err := s.create(r, in)
	switch {
	case wait > 0:
		s.Trail.Refused(r, http.StatusTooManyRequests, "")
		return s.Pages.ShowThrottled(w, r, in["query"], wait, false)
	case errors.Is(err, storage.ErrNotFound):
		s.Trail.Refused(r, http.StatusUnauthorized, "")
		return s.show(w, r, http.StatusUnauthorized, in, web.InvitationWrong)
	case errors.Is(err, storage.ErrExists):
		return s.show(w, r, http.StatusBadRequest, in, "This username is taken. Choose another one.")
	case errors.Is(err, storage.ErrInvalid):
		return s.show(w, r, http.StatusBadRequest, in, passwords.Explain(err))
	case err != nil:
		return err
	}
	if err := s.Trail.WriteNow(r, event.Registration, event.Event{User: u.Sub, Detail: "signed up"}); err != nil {
		return err
	}
	s.Log.InfoContext(r.Context(), "signed up", "sub", u.Sub, "ip", s.Peer(r))
	return s.signIn(w, r, u, address, in["query"])
}

// check returns the error of a form that shows before anything is looked up, as an alert.
func (s *SignUp) check(in map[string]string) (address, alert string) {
	var err error
	if s.Emails && strings.TrimSpace(in["address"]) != "" {
		if address, err = users.NormalizeEmail(in["address"]); err != nil {
			return "", "This is not an email address. Check it for mistakes; it looks like name@example.com."
		}
	}
	if err := usernames.Check(in["username"]); err != nil {
		return "", usernames.Explain(err)
	}
	if err := passwords.Check(in["password"], in["username"], address); err != nil {
		return "", passwords.Explain(err)
	}
	if s.Invited && strings.TrimSpace(in["invitation"]) == "" {
		return "", web.InvitationMissing
	}
	return address, ""
}

// create makes the user. A wrong invitation counts as a failed sign-in; each address makes only a
// few users at a time.
func (s *SignUp) create(r *http.Request, in map[string]string) (u storage.User, wait time.Duration, err error) {
	ip := s.Peer(r)
	if wait := s.Guard.Begin(r.Context(), ip); wait > 0 {
		return u, wait, nil
	}
	failed := false
	defer func() { s.Guard.End(r.Context(), ip, failed) }()
	if wait := s.AllowByIP(r); wait > 0 {
		return u, wait, nil
	}
	invitation := ""
	if s.Invited {
		invitation = in["invitation"]
	}
	u, err = s.Users.SignUp(passwords.AsUnknownClient(r.Context(), ip),
		storage.User{Username: in["username"], LoginType: storage.LoginSelf}, in["password"], invitation)
	failed = errors.Is(err, storage.ErrNotFound)
	return u, 0, err
}

// signIn signs a new user in. The address is not stored until they have typed in the code that is
// sent to it.
func (s *SignUp) signIn(w http.ResponseWriter, r *http.Request, u storage.User, address, query string) error {
	if address == "" {
		return s.SignIn(w, r, u, session.Password, query)
	}
	if err := s.Sessions.Begin(w, r, u, session.Password, web.LangFor(r, query)); err != nil {
		return err
	}
	s.Trail.SignedIn(r, http.StatusSeeOther, u.Sub)
	t, err := s.Pages.Restore(r.Context(), r, query)
	if err != nil {
		return err
	}
	wait, err := s.Codes.Send(w, r, otp.LinkFlow, t.Lang, storage.Ticket{Subject: address, UserID: u.Sub, Query: query})
	if errors.Is(err, error(web.EmailsFull)) || wait > 0 { // they can confirm it any other day
		return web.SeeOther(w, web.Onward(query))
	}
	if err != nil {
		return err
	}
	return web.SeeOther(w, otp.LinkFlow.CodePath())
}
