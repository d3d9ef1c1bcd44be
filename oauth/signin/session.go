package signin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/handle"
)

// SignOut ends the session behind the cookie, if there is one, writes that down and clears the
// cookie. If it fails the cookie stays, so that signing out can be tried again.
func (s *SignIn) SignOut(w http.ResponseWriter, r *http.Request) error {
	ended, err := s.endAll(r)
	for _, v := range ended {
		err = errors.Join(err, s.writeNow(r, event.Account, event.Event{User: v.UserID, Detail: "signed out"}))
	}
	if err != nil {
		return err
	}
	s.clearCookie(w)
	return nil
}

// begin gives the browser a new session of who proved at a time who they are. What it
// brought along is ended first: a value someone else may have planted must not become a
// signed-in one. The query is the authorize request that is carried along, if any.
func (s *SignIn) begin(w http.ResponseWriter, r *http.Request, u storage.User, loginType string, proved time.Time, query string) error {
	if _, err := s.endAll(r); err != nil {
		return err
	}
	cookie, now := handle.NewCookie(), time.Now().UTC()
	v := storage.Session{
		ID: handle.Hash(cookie), UserID: u.Sub, LoginType: loginType, AuthTime: earlier(proved.UTC(), now), EndsAt: now.Add(s.max),
		IP: s.peer(r).String(), Agent: agentOf(r), Lang: string(page.LangOf(r, ask(r, query).Get("ui_locales"))),
	}
	v.ExpiresAt = earlier(now.Add(s.idle), v.EndsAt)
	if _, err := s.store.SaveSession(r.Context(), v); err != nil {
		return err
	}
	s.setCookie(w, cookie, v.EndsAt)
	s.rememberBrowser(w, r, u.Sub)
	return nil
}

// maxEnded bounds what one request can make the store do.
const maxEnded = 4

// endAll ends the session behind every cookie, and returns those that there were: of two,
// nobody knows which one is real.
func (s *SignIn) endAll(r *http.Request) (ended []storage.Session, err error) {
	cookies := cookiesOf(r)
	for _, cookie := range cookies[:min(len(cookies), maxEnded)] {
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

func (s *SignIn) end(ctx context.Context, id string) error {
	_, err := s.endOne(ctx, id)
	return err
}

// endOne returns the session it has ended, or an empty one if there was none.
func (s *SignIn) endOne(ctx context.Context, id string) (storage.Session, error) {
	v, err := storage.RetryOnConflict(ctx, func() (storage.Session, error) { // it may move forward meanwhile
		v, err := s.store.Session(ctx, id)
		if err == nil {
			err = s.store.EndSession(ctx, v)
		}
		return v, err
	})
	if errors.Is(err, storage.ErrNotFound) {
		return storage.Session{}, nil
	}
	return v, err
}

// endSessions ends those of a user's sessions that which names.
func (s *SignIn) endSessions(ctx context.Context, sub string, which func(storage.Session) bool) error {
	all, err := s.store.Sessions(ctx, sub)
	for _, v := range all {
		if which(v) {
			err = errors.Join(err, s.end(ctx, v.ID))
		}
	}
	return err
}

func every(storage.Session) bool { return true }
