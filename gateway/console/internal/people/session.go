package people

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// maxRows bounds each list of what belongs to a user; the newest are shown.
const maxRows = 100

// sessionRecord shows a session.
type sessionRecord struct {
	ID        string `json:"id"`
	Device    string `json:"device"` // in English
	Address   string `json:"address"`
	LoginType string `json:"login_type"`
	AuthTime  string `json:"auth_time"`
	ExpiresAt string `json:"expires_at"`

	agent string
}

// DeviceIn returns the device in a language.
func (s sessionRecord) DeviceIn(l page.Lang) string { return page.AgentText(l, s.agent) }

// sessionList holds the newest sessions of a user.
type sessionList struct {
	Username string          `json:"-"` // for the page
	Sub      string          `json:"sub"`
	Sessions []sessionRecord `json:"sessions"`
}

// shownID returns the name of a session for who may see it.
func shownID(id string) string {
	sum := sha256.Sum256([]byte("console session\x00" + id))
	return hex.EncodeToString(sum[:16])
}

// listSessions serves GET /api/console/users/{sub}/sessions.
func (s *People) listSessions(_ http.ResponseWriter, r *http.Request, _ admin.Actor) (any, error) {
	u, err := s.subject(r)
	if err != nil {
		return nil, err
	}
	all, err := s.live(r.Context(), u.Sub)
	return sessionList{u.Username, u.Sub, all}, err
}

func (s *People) live(ctx context.Context, sub string) ([]sessionRecord, error) {
	all, err := s.c.Store.Sessions(ctx, sub)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(x, y storage.Session) int {
		return cmp.Or(y.AuthTime.Compare(x.AuthTime), cmp.Compare(x.ID, y.ID))
	})
	rows, now := []sessionRecord{}, time.Now()
	for _, v := range all {
		if v.Live(now) && len(rows) < maxRows {
			rows = append(rows, sessionOf(v))
		}
	}
	return rows, nil
}

func sessionOf(v storage.Session) sessionRecord {
	return sessionRecord{
		ID: shownID(v.ID), Device: page.AgentText(page.English, v.Agent), Address: v.IP, LoginType: v.LoginType,
		AuthTime: v.AuthTime.UTC().Format(manage.ISO8601), ExpiresAt: v.ExpiresAt.UTC().Format(manage.ISO8601), agent: v.Agent,
	}
}

// subject returns the user that a request is about.
func (s *People) subject(r *http.Request) (storage.User, error) {
	u, err := s.c.Store.User(r.Context(), r.PathValue("sub"))
	return u, manage.Refusal(err, noUser)
}

// endSessions serves DELETE /api/console/users/{sub}/sessions/{id}, and ends several that a form names.
// What does not belong to the user ends nothing at all.
func (s *People) endSessions(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	u, err := s.subject(r)
	if err != nil {
		return nil, err
	}
	ids, err := chosen(w, r, "id")
	if err != nil {
		return nil, err
	}
	all, err := s.c.Store.Sessions(r.Context(), u.Sub)
	if err != nil {
		return nil, err
	}
	some, err := endingsOf(s, u.Sub, all, ids)
	if err != nil {
		return nil, err
	}
	return s.end(r, who, "user session end", sessionNotice, some)
}

const sessionNotice = "signed out by an administrator"

// endingsOf finds the sessions that are named among those of a user.
func endingsOf(s *People, sub string, all []storage.Session, ids []string) (some []ending, err error) {
	for _, id := range ids {
		i := slices.IndexFunc(all, func(v storage.Session) bool { return shownID(v.ID) == id })
		if i < 0 {
			return nil, noSession
		}
		some = append(some, ending{sub: sub, change: "session " + id + " -> ended", do: func(ctx context.Context) error {
			return users.End(ctx, s.c.Store, all[i])
		}})
	}
	return some, nil
}

// endAll serves DELETE /api/console/users/{sub}/sessions: everything granted before ends, too.
func (s *People) endAll(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	u, err := s.subject(r)
	if err != nil {
		return nil, err
	}
	all, err := s.c.Store.Sessions(r.Context(), u.Sub)
	if err != nil {
		return nil, err
	}
	if err := s.signOut(r.Context(), u.Sub); err != nil {
		return nil, err
	}
	return ended{len(all)}, s.told(r, who, u, "user sign out", "signed out everywhere by an administrator", "sessions and grants -> ended")
}

// told writes an act to the trail, and tells the user about it.
func (s *People) told(r *http.Request, who admin.Actor, u storage.User, what, notice string, changes ...string) error {
	err := s.c.Recorder.Note(r.Context(), who, admin.Act{What: what, On: u.Sub, User: u.Sub, Changes: changes})
	s.c.Recorder.Notify(r.Context(), who, event.Notice{Kind: event.NoticeAccount, Detail: notice}, u.Sub)
	return err
}

func textOf(scope string) string { return strings.Join(strings.Fields(scope), " ") }
