package people

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/useracts"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/storage"
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

// listSessions serves GET /api/console/users/{sub}/sessions.
func (s *People) listSessions(_ http.ResponseWriter, r *http.Request, _ admin.Actor, u storage.User) (any, error) {
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
		ID: useracts.SessionName(v.ID), Device: page.AgentText(page.English, v.Agent), Address: v.IP, LoginType: v.LoginType,
		AuthTime: v.AuthTime.UTC().Format(adminapi.ISO8601), ExpiresAt: v.ExpiresAt.UTC().Format(adminapi.ISO8601),
		agent: v.Agent,
	}
}

// ofUser makes an Action of one on the user that the path names.
func (s *People) ofUser(act func(http.ResponseWriter, *http.Request, admin.Actor,
	storage.User) (any, error)) ui.Action {
	return func(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
		u, err := s.subject(r)
		if err != nil {
			return nil, err
		}
		return act(w, r, who, u)
	}
}

// subject returns the user that a request is about.
func (s *People) subject(r *http.Request) (storage.User, error) {
	u, err := s.c.Store.User(r.Context(), r.PathValue("sub"))
	return u, adminapi.Refusal(err, noUser)
}

// endSessions serves DELETE /api/console/users/{sub}/sessions/{id}, and ends several that a form names.
func (s *People) endSessions(w http.ResponseWriter, r *http.Request, who admin.Actor, u storage.User) (any, error) {
	ids, err := chosen(w, r, "id")
	if err != nil {
		return nil, err
	}
	return s.endNamed(r, who, map[string][]string{u.Sub: ids})
}

// endNamed ends the sessions of users, by sub, that are named. If one belongs to another user, nothing ends.
func (s *People) endNamed(r *http.Request, who admin.Actor, by map[string][]string) (any, error) {
	var some []storage.Session
	for sub, ids := range by {
		all, err := s.c.Store.Sessions(r.Context(), sub)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			i := slices.IndexFunc(all, func(v storage.Session) bool { return useracts.SessionName(v.ID) == id })
			if i < 0 {
				return nil, noSession
			}
			some = append(some, all[i])
		}
	}
	return ending(len(some), s.acts.EndSessions(r.Context(), who, some...), noSession)
}

// endAll serves DELETE /api/console/users/{sub}/sessions: everything granted before ends, too.
func (s *People) endAll(_ http.ResponseWriter, r *http.Request, who admin.Actor, u storage.User) (any, error) {
	n, err := s.acts.SignOut(r.Context(), who, u.Sub)
	return ending(n, err, noUser)
}

func textOf(scope string) string { return strings.Join(strings.Fields(scope), " ") }
