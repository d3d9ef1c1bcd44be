package otp

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/keystile/keystile/oauth/signin/internal/attempt"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// prove checks a code and uses it up if it is right, unless the guard or the delay of its account
// says to wait. A code that has expired does not count as failed.
func (s *Codes) prove(r *http.Request, e *Flow, t storage.Ticket,
	code, password string) (_ storage.Ticket, u storage.User, throttle attempt.Throttle, err error) {
	ip := s.Peer(r)
	if wait := s.Guard.Begin(r.Context(), ip); wait > 0 {
		return t, u, attempt.Throttle{Wait: wait}, nil
	}
	failed := false
	defer func() { s.Guard.End(r.Context(), ip, failed) }()
	at, err := s.Attempts.Email(r, t.Subject)
	if err != nil {
		return t, u, attempt.Throttle{}, err
	}
	wait, end := s.Attempts.Begin(r, at)
	if wait > 0 {
		return t, u, attempt.Throttle{Wait: wait, Account: true}, nil
	}
	defer func() { end(failed) }()
	t, right, err := s.Try(r.Context(), e.Kind, web.BrowserSecret(r), code)
	if err != nil {
		return t, u, attempt.Throttle{}, err
	}
	if !right {
		failed = true
		s.Log.InfoContext(r.Context(), "code refused", "ip", ip, "for", e.Kind)
		return t, u, attempt.Throttle{Sub: cmp.Or(t.UserID, at.Sub)}, storage.ErrNotFound
	}
	if u, err = e.check(s, r, t, password); err != nil {
		failed = errors.Is(err, storage.ErrNotFound)
		return t, u, attempt.Throttle{Sub: at.Sub}, err
	}
	if err = s.Use(r.Context(), t); err == nil && fromUnknown(t.State, t) {
		s.Rates.Emails.Ended(t)
	}
	return t, u, attempt.Throttle{}, err
}
