package signin

import (
	"cmp"
	"errors"
	"net/http"

	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// prove lets a code past the guard and the delay of its account and uses it up if it is right,
// or says how long to wait. A code that has ended proves nothing and does not count as failed.
func (s *emailCodes) prove(r *http.Request, e *emailFlow, t storage.Ticket, code, password string) (_ storage.Ticket, u storage.User, held hold, err error) {
	ip := s.peer(r)
	if wait := s.guard.Begin(ip); wait > 0 {
		return t, u, hold{wait: wait}, nil
	}
	failed := false
	defer func() { s.guard.End(ip, failed) }()
	at, err := s.attempts.targetAddress(r, t.Subject)
	if err != nil {
		return t, u, hold{}, err
	}
	if wait := s.attempts.beginAt(at); wait > 0 {
		return t, u, hold{wait: wait, account: true}, nil
	}
	defer func() { s.attempts.endAt(at, failed) }()
	t, right, err := s.try(r.Context(), e.kind, web.BrowserSecret(r), code)
	if err != nil {
		return t, u, hold{}, err
	}
	if !right {
		failed = true
		s.log.InfoContext(r.Context(), "code refused", "ip", ip, "for", e.kind)
		return t, u, hold{sub: cmp.Or(t.UserID, at.sub)}, storage.ErrNotFound
	}
	if u, err = e.ready(s, r, t, password); err != nil {
		failed = errors.Is(err, storage.ErrNotFound)
		return t, u, hold{sub: at.sub}, err
	}
	if err = s.use(r.Context(), t); err == nil && isStrangers(t.State, t) {
		s.rates.Emails.Ended(t)
	}
	return t, u, hold{}, err
}
