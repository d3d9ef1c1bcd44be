package signin

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/stepup"
	"github.com/keystile/keystile/storage"
)

// enter answers the form: 303 for who is known, 401 for who is not, 429 while locked, 400 for
// a form with nothing in it.
func (s *SignIn) enter(w http.ResponseWriter, r *http.Request) error {
	if err := s.sameOrigin.Check(r); err != nil {
		return foreign.Because(err)
	}
	in, err := readForm(w, r)
	if err != nil {
		return err
	}
	if strings.TrimSpace(in.username) == "" || in.password == "" { // no guess, so no failure either
		return s.sayUnfilled(w, r, in)
	}
	user, held, err := s.admit(r, in)
	switch {
	case held.wait > 0:
		s.noteRefused(r, http.StatusTooManyRequests, "")
		return s.sayHeld(w, r, in, held)
	case errors.Is(err, storage.ErrNotFound):
		s.noteRefused(r, http.StatusUnauthorized, held.sub)
		return s.sayWrong(w, r, in)
	case err != nil:
		return err
	}
	return s.letIn(w, r, user, storage.LoginSelf, in.query)
}

// letIn signs somebody in who has proved who they are, and sends them on to where they
// came from.
func (s *SignIn) letIn(w http.ResponseWriter, r *http.Request, user storage.User, loginType, query string) error {
	return s.letInSince(w, r, user, loginType, query, time.Now())
}

// letInSince is letIn for who has proved it at another time. If that is long ago, it does
// not meet what the application asked of a sign-in.
func (s *SignIn) letInSince(w http.ResponseWriter, r *http.Request, user storage.User, loginType, query string, proved time.Time) error {
	tell := s.newBrowser(r, user)
	if err := s.begin(w, r, user, loginType, proved, query); err != nil {
		return err
	}
	s.note(r, http.StatusSeeOther, user.Sub)
	tell()
	to := onward(query)
	if !stepup.Fresh(proved, time.Now()) {
		to = back(query)
	}
	return seeOther(w, to) // not 307, which would send the password along (RFC 9700 4.12)
}

// admit lets an attempt past the guard and the delay of its account, or says how long to
// wait. Only what is known to be wrong counts as failed: a store that is away proves nothing.
func (s *SignIn) admit(r *http.Request, in form) (u storage.User, held hold, err error) {
	ip := s.peer(r)
	if wait := s.guard.Begin(ip); wait > 0 {
		return u, hold{wait: wait}, nil
	}
	failed := false
	defer func() { s.guard.End(ip, failed) }()
	at, err := s.targetOf(r, in.username)
	if err != nil {
		return u, hold{}, err
	}
	if wait := s.beginAt(at); wait > 0 {
		return u, hold{wait: wait, account: true}, nil
	}
	defer func() { s.endAt(at, failed) }()
	ctx, leave := s.inLine(r.Context(), ip, at)
	defer func() { leave(failed) }()
	u, err = s.authenticate(ctx, in)
	failed = errors.Is(err, storage.ErrNotFound)
	switch {
	case failed:
		s.log.InfoContext(r.Context(), "sign-in refused", "ip", ip)
	case err == nil:
		s.log.InfoContext(r.Context(), "signed in", "sub", u.Sub, "ip", ip)
	}
	return u, hold{sub: at.sub}, err
}

// authenticate asks Users. An empty password never gets there: to some directories it
// means an anonymous visitor, who is let in.
func (s *SignIn) authenticate(ctx context.Context, in form) (storage.User, error) {
	if in.username == "" || in.password == "" {
		return storage.User{}, storage.ErrNotFound
	}
	u, err := s.users.Authenticate(ctx, in.username, in.password)
	if err == nil && u.Disabled {
		return storage.User{}, storage.ErrNotFound
	}
	return u, err
}
