package storage

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Session is a signed-in browser. Its cookie is kept only as a hash.
type Session struct {
	ID        string    `json:"id"`   // SessionID(cookie)
	UserID    string    `json:"user"` // the user's sub
	LoginType string    `json:"login_type"`
	AuthTime  time.Time `json:"auth_time"`       // when the user proved who they are
	ExpiresAt time.Time `json:"expires_at"`      // slides with use
	EndsAt    time.Time `json:"ends_at"`         // does not
	IP        string    `json:"ip,omitempty"`    // the client's address
	Agent     string    `json:"agent,omitempty"` // the browser's User-Agent, cut
	Lang      string    `json:"lang,omitempty"`  // of the pages it was begun with; "": before that was kept
	Version   int64     `json:"-"`
	carried
}

var sessions = kind[Session]{
	name:    "session",
	id:      func(s Session) string { return s.ID },
	index:   func(s Session) []string { return []string{"user=" + s.UserID} },
	expires: func(s Session) time.Time { return s.ExpiresAt },
	version: func(s *Session) *int64 { return &s.Version },
}

// Live reports whether the session is valid at a time.
func (s Session) Live(at time.Time) bool { return at.Before(s.ExpiresAt) && at.Before(s.EndsAt) }

// Session returns a session, expired ones included, or ErrNotFound.
func (s *Store) Session(ctx context.Context, id string) (Session, error) {
	return sessions.get(ctx, s, id)
}

// SaveSession writes a session.
func (s *Store) SaveSession(ctx context.Context, v Session) (Session, error) {
	return sessions.put(ctx, s, v)
}

// EndSession removes a session that has been read before.
func (s *Store) EndSession(ctx context.Context, v Session) error { return sessions.remove(ctx, s, v) }

// Sessions returns all sessions of a user (a sub).
func (s *Store) Sessions(ctx context.Context, sub string) ([]Session, error) {
	return sessions.all(ctx, s, driver.Is("user="+sub))
}
