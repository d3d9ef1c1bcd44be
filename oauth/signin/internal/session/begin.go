package session

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/logout"
	"github.com/keystile/keystile/internal/users"
	"github.com/keystile/keystile/oauth/signin/internal/methods"
	"github.com/keystile/keystile/oauth/signin/internal/web"
	"github.com/keystile/keystile/storage"
)

// Begin begins a session of a user who has authenticated. The browser's old sessions are ended first: a
// cookie that someone has planted must not become a signed-in one.
func (s *Sessions) Begin(w http.ResponseWriter, r *http.Request, u storage.User, by Proof, lang string) error {
	before, err := s.endBefore(r, u.Sub)
	if err != nil {
		return err
	}
	cookie, now := handle.NewCookie(), time.Now().UTC()
	v := storage.Session{
		ID: handle.Hash(cookie), UserID: u.Sub, LoginType: methods.LoginType(by.Method), AMR: by.AMR,
		AuthTime: earlier(by.Time().UTC(), now), EndsAt: now.Add(s.Max),
		Unsaid: by.Unsaid, Alone: by.Unsaid && by.Alone, From: by.From, IP: s.Peer(r).String(), Agent: web.AgentOf(r),
		Lang: lang,
	}
	if by.Method != v.LoginType {
		v.Method = by.Method
	}
	if !by.Until.IsZero() {
		v.EndsAt = earlier(v.EndsAt, by.Until)
	}
	if before.ID != "" {
		v.Apps, v.Root = before.Apps, before.SIDRoot()
	}
	v.ExpiresAt = earlier(now.Add(s.Idle), v.EndsAt)
	if _, err := s.Store.SaveSession(r.Context(), v); err != nil {
		return err
	}
	if by.From != before.From { // else a session goes on that was confirmed before
		if err := s.vouched(r.Context(), v); err != nil {
			return err
		}
	}
	s.setCookie(w, cookie, v.EndsAt)
	s.Remember(w, r, u.Sub)
	s.endOldest(r, v)
	return nil
}

// vouched ends a session that has just begun and that another one has confirmed, if the other one has ended meanwhile.
func (s *Sessions) vouched(ctx context.Context, begun storage.Session) error {
	if begun.From == "" {
		return nil
	}
	all, err := s.Store.Sessions(ctx, begun.UserID)
	if err == nil && !slices.ContainsFunc(all,
		func(v storage.Session) bool { return v.SIDRoot() == begun.From && v.Live(time.Now()) }) {
		err = web.ScanEnded
	}
	if err != nil {
		err = errors.Join(err, s.End(ctx, begun.ID))
	}
	return err
}

// MaxEnded bounds what one request can make the store do.
const MaxEnded = 4

// EndAll ends the sessions of all session cookies of a request, and returns them: of two cookies
// it is not known which one is real.
func (s *Sessions) EndAll(r *http.Request) (ended []storage.Session, err error) {
	return s.endAll(r, telling)
}

func (s *Sessions) endAll(r *http.Request, quiet func(storage.Session) bool) (ended []storage.Session, err error) {
	cookies := CookiesOf(r)
	for _, cookie := range cookies[:min(len(cookies), MaxEnded)] {
		v, err := s.endOne(r.Context(), handle.Hash(cookie), quiet)
		if err != nil {
			return ended, err
		}
		if v.ID != "" {
			ended = append(ended, v)
		}
	}
	return ended, nil
}

// endBefore ends the sessions of a request before one of a user begins. That of the same user goes on in the new
// one: its applications are told when that ends, by the sid that they know.
func (s *Sessions) endBefore(r *http.Request, sub string) (goesOn storage.Session, err error) {
	alone := len(CookiesOf(r)) == 1
	ended, err := s.endAll(r, func(v storage.Session) bool { return alone && v.UserID == sub })
	if alone && len(ended) == 1 && ended[0].UserID == sub {
		goesOn = ended[0]
	}
	return goesOn, err
}

// End ends a session, if there is one.
func (s *Sessions) End(ctx context.Context, id string) error {
	_, err := s.endOne(ctx, id, telling)
	return err
}

// EndEvery ends all sessions of a user. Their applications are told by the revocation of the user that the
// caller makes next.
func (s *Sessions) EndEvery(ctx context.Context, sub string) error {
	all, err := s.Store.Sessions(ctx, sub)
	for _, v := range all {
		_, ended := s.endOne(ctx, v.ID, func(storage.Session) bool { return true })
		err = errors.Join(err, ended)
	}
	return err
}

// telling is for endOne: the applications of the session are told.
func telling(storage.Session) bool { return false }

// endOne returns the session it has ended, or an empty one if there was none. The applications of one that
// quiet reports are not told. With a session those end that its user has confirmed in it, before it, so that what
// fails can be tried again; not where it goes on in another one.
func (s *Sessions) endOne(ctx context.Context, id string, quiet func(storage.Session) bool) (storage.Session, error) {
	before, err := s.Store.Session(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return storage.Session{}, nil
	}
	if err != nil {
		return before, err
	}
	if !quiet(before) {
		if err := users.EndFollowing(ctx, s.Store, before); err != nil {
			return before, err
		}
	}
	v, err := storage.RetryOnConflict(ctx, func() (storage.Session, error) { // it may move forward meanwhile
		v, err := s.Store.Session(ctx, id)
		if err != nil {
			return v, err
		}
		ends := v
		if quiet(v) {
			ends.Apps = nil
		}
		return v, logout.End(ctx, s.Store, ends)
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
