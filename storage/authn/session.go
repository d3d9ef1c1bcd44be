package authn

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/tools"
)

// MaxSessionApps bounds how many applications are told of the end of one session.
const MaxSessionApps = 40

// Session is a signed-in browser. Its cookie is kept only as a hash.
type Session struct {
	ID        string    `json:"id"`   // storage.HashCookie of its cookie
	UserID    string    `json:"user"` // the user's sub
	LoginType string    `json:"login_type"`
	Method    string    `json:"method,omitempty"` // the sign-in method where it is not the login type, such as a host's own
	AMR       string    `json:"amr,omitempty"`    // how the user authenticated (RFC 8176), separated by spaces; "": not known
	AuthTime  time.Time `json:"auth_time"`        // when the user proved who they are
	ExpiresAt time.Time `json:"expires_at"`       // slides with use
	EndsAt    time.Time `json:"ends_at"`          // does not
	Unsaid    bool      `json:"unsaid,omitempty"` // their provider does not say when that was: AuthTime is when they came
	Alone     bool      `json:"alone,omitempty"`  // and they had no other way to prove it then
	IP        string    `json:"ip,omitempty"`     // the client's address
	Agent     string    `json:"agent,omitempty"`  // the browser's User-Agent, cut
	Lang      string    `json:"lang,omitempty"`   // of the pages it was begun with; "": before that was kept
	Apps      []string  `json:"apps,omitempty"`   // the applications that are told of its end, by client_id: see JoinSession
	Root      string    `json:"root,omitempty"`   // the ID of the session that this one goes on, which its Apps know by their sid; "": none
	From      string    `json:"from,omitempty"`   // the SIDRoot of the session whose user confirmed this one, with which it ends; "": none
	Version   int64     `json:"-"`
	carried
}

var sessions = document.Kind[Session]{
	Name:    "session",
	ID:      func(s Session) string { return s.ID },
	Index:   Session.entries,
	Expires: func(s Session) time.Time { return s.ExpiresAt },
	Version: func(s *Session) *int64 { return &s.Version },
	Clone: func(s Session) Session {
		s.Apps = slices.Clone(s.Apps)
		return s
	},
}

// entries returns the lists that a session is on: with its user, with its address, and by when it began, the
// newest first. Sessions end within 30 days, so nothing walks over those that lack some.
func (s Session) entries() []string {
	all := []string{"user=" + s.UserID, "began=" + backwards(s.AuthTime)}
	if s.IP != "" && len(s.IP) < 100 {
		all = append(all, "ip="+s.IP)
	}
	return all
}

// backwards is a time as a text of one width; a later one comes before an earlier one.
func backwards(at time.Time) string {
	return fmt.Sprintf("%019d", math.MaxInt64-max(at.UnixNano(), 0))
}

// SignInMethod returns the method by which the user signed in: the Method, or the login type where that says it.
func (s Session) SignInMethod() string { return cmp.Or(s.Method, s.LoginType) }

// ProvedAt returns when the user proved who they are, zero if that is not known.
func (s Session) ProvedAt() time.Time {
	if s.Unsaid {
		return time.Time{}
	}
	return s.AuthTime
}

// FreshFrom is ProvedAt for what takes a fresh sign-in (decision 57). A user who has nothing but a provider that does
// not say when, has proved what they have when they came from there: nothing else could be asked for.
func (s Session) FreshFrom() time.Time {
	if s.Alone {
		return s.AuthTime
	}
	return s.ProvedAt()
}

// SIDRoot returns what the sids of a session are made of: see SID.
func (s Session) SIDRoot() string { return cmp.Or(s.Root, s.ID) }

// Live reports whether the session is valid at a time.
func (s Session) Live(at time.Time) bool { return at.Before(s.ExpiresAt) && at.Before(s.EndsAt) }

// Multifactor reports whether the user has proved more than one factor.
func (s Session) Multifactor() bool {
	return slices.Contains(strings.Fields(s.AMR), AMRMultifactor)
}

// Session returns a session, expired ones included, or ErrNotFound.
func (s *Store) Session(ctx context.Context, id string) (Session, error) {
	return document.Get(ctx, s.docs, sessions, id)
}

// SaveSession writes a session. A new one of a user who is being erased is an ErrNotFound.
func (s *Store) SaveSession(ctx context.Context, v Session) (Session, error) {
	return document.PutNew(ctx, s.docs, sessions, v.UserID, v)
}

// EndSession removes a session that has been read before. In the same step, deliveries join the queues of their
// Members: see [tools.Store.QueueDeliveries].
func (s *Store) EndSession(ctx context.Context, v Session, told ...tools.Delivery) error {
	return tools.Queue(ctx, s.tools, told, func(queued []driver.Doc) error {
		gone := driver.Doc{Kind: sessions.Name, ID: v.ID, Version: v.Version, Deleted: true}
		_, err := document.Write(ctx, s.docs, append(queued, gone)...)
		return err
	})
}

// Sessions returns all sessions of a user (a sub).
func (s *Store) Sessions(ctx context.Context, sub string) ([]Session, error) {
	return document.All(ctx, s.docs, sessions, driver.Is("user="+sub))
}

// A SessionQuery asks for the sessions of a user (a sub); else for those that began at an address; else
// for all, the newest first. A session that is older than the last two lists is on them once it is saved
// again.
type SessionQuery struct{ UserID, IP string }

// FindSessions returns a page of up to n sessions, from the start or from a next of before. Those are
// among them that have ended and are not swept: see Session.Live.
func (s *Store) FindSessions(ctx context.Context, q SessionQuery, from string, n int) ([]Session, string, error) {
	entry := ""
	switch {
	case q.UserID != "":
		entry = "user=" + q.UserID
	case q.IP != "":
		entry = "ip=" + q.IP
	default:
		span, err := document.PageSpan(driver.Between("began=", "began=:"), from) // a colon is behind all digits
		if err != nil {
			return nil, "", err
		}
		return document.List(ctx, s.docs, sessions, span, n)
	}
	return document.Page(ctx, s.docs, sessions, entry, from, n)
}
