package session

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// Visitor returns the live session of a request, of an enabled user. storage.ErrNotFound means
// that nobody is signed in. Any other error means that it is not known: never treat it as nobody.
func (s *Sessions) Visitor(r *http.Request) (storage.Session, error) {
	v, _, err := s.Visit(r)
	return v, err
}

// Visit returns the live session of a request, and its user.
func (s *Sessions) Visit(r *http.Request) (storage.Session, storage.User, error) {
	v, err := s.session(r)
	if err != nil {
		return storage.Session{}, storage.User{}, err
	}
	u, err := s.Users.User(r.Context(), v.UserID)
	switch {
	case err != nil:
		return storage.Session{}, storage.User{}, err
	case u.Disabled:
		return storage.Session{}, storage.User{}, storage.ErrNotFound
	}
	if err := reqctx.ChargeSession(r.Context(), v.ID, v.UserID); err != nil {
		return storage.Session{}, storage.User{}, err
	}
	v, err = s.slide(r.Context(), v, time.Now().UTC())
	return v, u, err
}

func (s *Sessions) session(r *http.Request) (storage.Session, error) {
	cookies := CookiesOf(r)
	if len(cookies) != 1 {
		return storage.Session{}, storage.ErrNotFound
	}
	v, err := s.Store.Session(r.Context(), handle.Hash(cookies[0]))
	switch {
	case err != nil:
		return storage.Session{}, err
	case !v.Live(time.Now()):
		return storage.Session{}, storage.ErrNotFound
	}
	return v, nil
}

// slide moves the end of a session forward with its use. It writes at most once a day (a
// seventh of the idle time, if that is shorter) and not at every request; the end may
// come that much sooner.
func (s *Sessions) slide(ctx context.Context, v storage.Session, now time.Time) (storage.Session, error) {
	moved := v.ExpiresAt.Add(-s.Idle)
	to := earlier(now.Add(s.Idle), v.EndsAt)
	if now.Sub(moved) < min(s.Idle/7, 24*time.Hour) || !to.After(v.ExpiresAt) {
		return v, nil
	}
	longer := v
	longer.ExpiresAt = to
	longer, err := s.Store.SaveSession(ctx, longer)
	switch {
	case errors.Is(err, storage.ErrConflict), errors.Is(err, storage.ErrNotFound):
		return v, nil // another request has moved it, or ended it a moment after this one began
	case err != nil:
		return storage.Session{}, err
	}
	return longer, nil
}

// LastUsed returns about when a session was last used: slide writes it at most once a day. It is
// the zero time if the session's end does not tell, because it slides no further.
func (s *Sessions) LastUsed(v storage.Session) time.Time {
	used := v.ExpiresAt.Add(-s.Idle)
	if !v.ExpiresAt.Before(v.EndsAt) || used.After(time.Now()) {
		return time.Time{}
	}
	return used
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// Stale is an ErrStale that tells what was not done: the page that asks for the proof shows it.
type Stale struct{ About web.About }

func (*Stale) Error() string { return ErrStale.Error() }

// Is reports whether an error is ErrStale.
func (*Stale) Is(target error) bool { return target == ErrStale }

// ErrStale says that a session has not proved within ten minutes what its user has: another person may be using the
// browser by now.
var ErrStale = errors.New("signin: the sign-in is too long ago, or has not proved a second factor")
