package people

import (
	"cmp"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// foundSession is a session of one of many users.
type foundSession struct {
	Sub      string `json:"sub"`
	Username string `json:"username"` // "": it was not read
	sessionRecord
}

// foundSessions is a page of sessions.
type foundSessions struct {
	Sessions []foundSession `json:"sessions"`
	Next     string         `json:"next"`
}

// findSessions serves GET /api/console/sessions?user=&address=&after=: the newest first.
func (s *People) findSessions(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	ctx, all := r.Context(), foundSessions{Sessions: []foundSession{}}
	q, from, err := s.sessionQuery(r, who)
	if err != nil {
		return all, err
	}
	page, next, err := s.c.Store.FindSessions(ctx, *q, from, adminapi.PageSize)
	if err != nil {
		return nil, adminapi.Refusal(err, noUser)
	}
	slices.SortFunc(page, func(x, y storage.Session) int {
		return cmp.Or(y.AuthTime.Compare(x.AuthTime), cmp.Compare(x.ID, y.ID))
	})
	var subs []string
	now := time.Now()
	for _, v := range page {
		if v.Live(now) {
			all.Sessions = append(all.Sessions, foundSession{Sub: v.UserID, sessionRecord: sessionOf(v)})
			subs = append(subs, v.UserID)
		}
	}
	_, names, err := s.c.Names.Of(ctx, who.User, nil, subs)
	for i := range all.Sessions {
		all.Sessions[i].Username = names[all.Sessions[i].Sub]
	}
	all.Next = sessionPlace(next)
	return all, err
}

// emptyIfNone makes the action of an endpoint, whose list of what an unknown user has is empty, of that of a page.
func emptyIfNone(find ui.Action) ui.Action {
	return func(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
		all, err := find(w, r, who)
		if ui.FindsNone(err) {
			err = nil
		}
		return all, err
	}
}

// sessionQuery reads what a request asks for.
func (s *People) sessionQuery(r *http.Request, who admin.Actor) (*storage.SessionQuery, string, error) {
	user, address := adminapi.QueryOf(r, "user"), adminapi.QueryOf(r, "address")
	from, err := adminapi.FromPlace(r)
	if err != nil || len(user) > adminapi.MaxQuery || len(address) > adminapi.MaxQuery {
		return nil, "", cmp.Or(err, error(adminapi.BadQuery.Saying("user and address are texts of up to 1000 bytes")))
	}
	q := &storage.SessionQuery{}
	switch {
	case user != "":
		if q.UserID, err = s.c.Finder.Sub(r.Context(), who, "user", user); err != nil {
			return nil, "", err
		}
	case address != "":
		ip, err := netip.ParseAddr(address)
		if err != nil {
			return nil, "", &ui.Mistyped{Failure: adminapi.BadQuery.Saying(badAddress), Field: "address"}
		}
		q.IP = ip.Unmap().String()
	}
	return q, from, nil
}

const badAddress = "address is an IP address such as 192.0.2.7 or 2001:db8::7"

// shownOfID is the part of an id that a place has: it is enough to tell records apart, and not to use one.
const shownOfID = 16

// sessionPlace writes where a list of sessions goes on, without the whole id of one.
func sessionPlace(next string) string {
	if entry, id, ok := strings.Cut(next, driver.Separator); ok {
		next = entry + driver.Separator + id[:min(len(id), shownOfID)]
	}
	return adminapi.PlaceOf(next)
}

// endFound serves POST /api/console/sessions/end.
func (s *People) endFound(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	by, err := chosenOf(w, r)
	if err != nil {
		return nil, err
	}
	return s.endNamed(r, who, by)
}
