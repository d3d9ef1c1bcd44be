package session

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/methods"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/handle"
)

// Begin begins a session of a user who has authenticated. The browser's old sessions are ended first: a
// cookie that someone has planted must not become a signed-in one.
func (s *Sessions) Begin(w http.ResponseWriter, r *http.Request, u storage.User, by Proof, lang string) error {
	if _, err := s.EndAll(r); err != nil {
		return err
	}
	cookie, now := handle.NewCookie(), time.Now().UTC()
	v := storage.Session{
		ID: handle.Hash(cookie), UserID: u.Sub, LoginType: methods.LoginType(by.Method), AMR: by.AMR, AuthTime: earlier(by.Time().UTC(), now), EndsAt: now.Add(s.Max),
		IP: s.Peer(r).String(), Agent: web.AgentOf(r), Lang: lang,
	}
	if by.Method != v.LoginType {
		v.Method = by.Method
	}
	v.ExpiresAt = earlier(now.Add(s.Idle), v.EndsAt)
	if _, err := s.Store.SaveSession(r.Context(), v); err != nil {
		return err
	}
	s.setCookie(w, cookie, v.EndsAt)
	s.Remember(w, r, u.Sub)
	return nil
}

// MaxEnded bounds what one request can make the store do.
const MaxEnded = 4

// EndAll ends the sessions of all session cookies of a request, and returns them: of two cookies
// it is not known which one is real.
func (s *Sessions) EndAll(r *http.Request) (ended []storage.Session, err error) {
	cookies := CookiesOf(r)
	for _, cookie := range cookies[:min(len(cookies), MaxEnded)] {
		v, err := s.endOne(r.Context(), handle.Hash(cookie))
		if err != nil {
			return ended, err
		}
		if v.ID != "" {
			ended = append(ended, v)
		}
	}
	return ended, nil
}

// End ends a session, if there is one.
func (s *Sessions) End(ctx context.Context, id string) error {
	_, err := s.endOne(ctx, id)
	return err
}

// endOne returns the session it has ended, or an empty one if there was none.
func (s *Sessions) endOne(ctx context.Context, id string) (storage.Session, error) {
	v, err := storage.RetryOnConflict(ctx, func() (storage.Session, error) { // it may move forward meanwhile
		v, err := s.Store.Session(ctx, id)
		if err == nil {
			err = s.Store.EndSession(ctx, v)
		}
		return v, err
	})
	if errors.Is(err, storage.ErrNotFound) {
		return storage.Session{}, nil
	}
	return v, err
}

// EndSessions ends those of a user's sessions that which reports.
func (s *Sessions) EndSessions(ctx context.Context, sub string, which func(storage.Session) bool) error {
	all, err := s.Store.Sessions(ctx, sub)
	for _, v := range all {
		if which(v) {
			err = errors.Join(err, s.End(ctx, v.ID))
		}
	}
	return err
}

// All reports every session.
func All(storage.Session) bool { return true }
