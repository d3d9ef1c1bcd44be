package otp

import (
	"context"
	"errors"
	"net/http"

	"github.com/keystile/keystile/oauth/signin/internal/session"
	"github.com/keystile/keystile/oauth/signin/internal/trail"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// Flow is one thing that a code is sent for. It has two pages: one that asks for the address,
// one for the code.
type Flow struct {
	Kind        string // of its tickets
	Path        string
	Title, Lead string // of the page that asks for the address; these and the others in English
	CodeTitle   string // of the page that asks for the code
	Button      string // under the code
	NewPassword bool   // asked for with the code
	Subject     string // of the email

	// user returns the signed-in user whom the flow needs, and their session; storage.ErrNotFound requires a
	// sign-in, session.ErrStale a fresh one. Nil: the flow needs none.
	user func(*Codes, *http.Request) (storage.Session, storage.User, error)
	// deliverable reports whether an email is sent to the ticket's address. It is called in the
	// background, so that the response does not reveal it.
	deliverable func(*Codes, context.Context, storage.Ticket) (bool, error)
	// check checks a right code before it is used up. storage.ErrNotFound treats it as a wrong
	// code; storage.ErrInvalid asks for another password.
	check func(*Codes, *http.Request, storage.Ticket, string) (storage.User, error)
	// finish answers the request after the right code has been used up.
	finish func(*Codes, http.ResponseWriter, *http.Request, storage.Ticket, storage.User, string) error
}

// CodePath is the path of the page that asks for the code.
func (e *Flow) CodePath() string { return e.Path + "/code" }

// SignInFlow signs in by email, and creates an account where sign-up is open, or for an invitation.
var SignInFlow = &Flow{
	Kind: "email", Path: web.FormPath + "/email",
	Title: "Sign in with email", Lead: "We send a code to your address. You need no password.",
	CodeTitle: "Type in the code", Button: "Sign in", Subject: "Your code to sign in",
	deliverable: func(s *Codes, ctx context.Context, t storage.Ticket) (bool, error) {
		_, err := s.Emails.ByEmail(ctx, t.Subject)
		if errors.Is(err, storage.ErrNotFound) {
			return s.admits(t.Invitation), nil
		}
		return err == nil, err
	},
	check: func(s *Codes, r *http.Request, t storage.Ticket, _ string) (storage.User, error) {
		u, err := s.Emails.ByEmail(r.Context(), t.Subject)
		if !errors.Is(err, storage.ErrNotFound) {
			return u, err
		}
		if !s.admits(t.Invitation) {
			return u, storage.ErrNotFound
		}
		return storage.User{}, nil
	},
	finish: func(s *Codes, w http.ResponseWriter, r *http.Request, t storage.Ticket, u storage.User,
		_ string) (err error) {
		s.Pages.RememberWay(w, r, storage.LoginEmail)
		if u.Sub == "" {
			u, err = s.Emails.CreateByEmail(users.WithAdmission(r.Context(), users.Admission{Invitation: t.Invitation}),
				t.Subject)
			switch {
			case errors.Is(err, storage.ErrNotFound) && t.Invitation != "": // used by another person meanwhile
				return web.InvitationUsed
			case errors.Is(err, storage.ErrNotFound): // there is such a user already, and they are disabled
				return web.EmailDisabled
			case err != nil:
				return err
			}
		} else if u, err = s.Emails.EnteredByEmail(r.Context(), u); err != nil {
			return err
		}
		return s.SignIn(w, r, u, session.EmailCode, t.Query)
	},
}

// ResetFlow sets a new password in place of a forgotten one.
var ResetFlow = &Flow{
	Kind: "reset", Path: web.FormPath + "/reset",
	Title: "Set a new password", Lead: "Give the email address you have confirmed here. We send a code to it.",
	CodeTitle: "Set a new password", Button: "Save the new password", NewPassword: true,
	Subject: "Your code to set a new password",
	deliverable: func(s *Codes, ctx context.Context, t storage.Ticket) (bool, error) {
		_, err := s.userWithPassword(ctx, t.Subject)
		if errors.Is(err, storage.ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	},
	check: func(s *Codes, r *http.Request, t storage.Ticket, password string) (storage.User, error) {
		u, err := s.userWithPassword(r.Context(), t.Subject)
		if err != nil {
			return u, err
		}
		if err := passwords.Check(password, u.Username, u.Email, t.Subject); err != nil {
			return u, errors.Join(storage.ErrInvalid, err)
		}
		return u, nil
	},
	finish: func(s *Codes, w http.ResponseWriter, r *http.Request, t storage.Ticket, u storage.User,
		password string) error {
		if err := s.ChangePassword(r, u, password); err != nil {
			return err
		}
		return s.SignIn(w, r, u, session.EmailCode, t.Query)
	},
}

// LinkFlow confirms an email address of the signed-in user.
var LinkFlow = &Flow{
	Kind: "link", Path: web.FormPath + "/address",
	Title: "Confirm an email address", Lead: "With it you can sign in, and set a new password if you forget yours.",
	CodeTitle: "Type in the code", Button: "Confirm", Subject: "Confirm your email address",
	user: func(s *Codes, r *http.Request) (storage.Session, storage.User, error) {
		v, u, _, err := s.VisitFresh(r)
		return v, u, err
	},
	deliverable: func(s *Codes, ctx context.Context, t storage.Ticket) (bool, error) {
		u, err := s.Emails.ByEmail(ctx, t.Subject)
		if errors.Is(err, storage.ErrNotFound) {
			return true, nil
		}
		return err == nil && u.Sub == t.UserID, err
	},
	check: func(s *Codes, r *http.Request, t storage.Ticket, _ string) (storage.User, error) {
		v, u, err := s.Sessions.Visit(r)
		if err == nil {
			var proved bool
			if proved, err = s.Second.Proved(r.Context(), v); err == nil && !proved {
				err = storage.ErrNotFound
			}
		}
		if errors.Is(err, storage.ErrNotFound) || err == nil && u.Sub != t.UserID { // signed out, or another person is here
			err = ErrExpired
		}
		return u, err
	},
	finish: func(s *Codes, w http.ResponseWriter, r *http.Request, t storage.Ticket, u storage.User, _ string) error {
		err := s.Emails.LinkEmail(r.Context(), u.Sub, t.Subject)
		if errors.Is(err, storage.ErrExists) {
			return web.EmailTaken
		}
		if err != nil {
			return err
		}
		if err := s.addressChanged(r, u, t.Subject); err != nil {
			return err
		}
		return web.SeeOther(w, web.Onward(t.Query))
	},
}

// addressChanged records that a user has confirmed an address, and notifies the old one and the
// new one.
func (s *Codes) addressChanged(r *http.Request, before storage.User, address string) error {
	old := before.Email
	if !before.EmailVerified {
		old = ""
	}
	if old == address {
		return nil
	}
	what := "The email address was changed."
	if old == "" {
		what = "An email address was added."
	}
	s.Notices.NotifyIn(r.Context(), before.Sub, s.Notices.FromRequest(r, event.NoticeAccount, what), nil, old, address)
	return s.Trail.Changed(r, before.Sub, "email address", trail.Hashed(old), trail.Hashed(address))
}

// userWithPassword returns the user of an address, storage.ErrNotFound for one without a password.
func (s *Codes) userWithPassword(ctx context.Context, address string) (storage.User, error) {
	u, err := s.Emails.ByEmail(ctx, address)
	if err != nil {
		return u, err
	}
	has, err := s.Passwords.HasPassword(ctx, u.Sub)
	if err == nil && !has {
		err = storage.ErrNotFound
	}
	return u, err
}
