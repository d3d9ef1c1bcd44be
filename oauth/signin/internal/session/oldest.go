package session

import (
	"net/http"
	"slices"
	"time"

	"github.com/keystile/keystile/storage"
)

// MaxPerUser bounds the sessions of one user. A person has a few; a program that signs in again and again, or
// somebody who knows a password, would make a row of the store each time.
const MaxPerUser = 100

// maxTrimmed bounds what one sign-in ends, where an older version has left more.
const maxTrimmed = 50

// endOldest ends the oldest sessions of the user of one that has just begun, if there are too many with it. Of several
// that begin at once, the last to look sees all others. What fails is tried again at the next sign-in: this
// one has been done.
func (s *Sessions) endOldest(r *http.Request, begun storage.Session) {
	ctx, now := r.Context(), time.Now()
	all, err := s.Store.Sessions(ctx, begun.UserID)
	if err != nil {
		s.Log.WarnContext(ctx, "whether a user has too many sessions cannot be told", "sub", begun.UserID, "err", err)
		return
	}
	all = slices.DeleteFunc(all, func(v storage.Session) bool { return v.ID == begun.ID || !v.Live(now) })
	slices.SortFunc(all, func(a, b storage.Session) int { return a.AuthTime.Compare(b.AuthTime) })
	for _, v := range all[:min(maxTrimmed, max(0, len(all)+1-MaxPerUser))] {
		ended, err := s.endOne(ctx, v.ID, telling)
		switch {
		case err != nil:
			s.Log.WarnContext(ctx, "the oldest session of a user is not ended", "sub", begun.UserID, "err", err)
			return
		case ended.ID != "" && s.Ended != nil:
			s.Ended(r, ended)
		}
	}
}
