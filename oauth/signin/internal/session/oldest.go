package session

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"github.com/keystile/keystile/storage"
)

// MaxPerUser bounds the sessions of one user. A person has a few; a program that signs in again and again, or
// a person who knows a password, would make a row of the store each time.
const MaxPerUser = 100

// maxTrimmed bounds what one sign-in ends, where an older version has left more.
const maxTrimmed = 50

// endOldest ends the oldest sessions of the user of one that has just begun, if there are too many with it. Of several
// that begin at once, the last to look sees all others. A session that has confirmed this one stays, however old it is:
// this one would end with it. A failure does not undo this sign-in: the next one tries again.
func (s *Sessions) endOldest(r *http.Request, begun storage.Session) {
	ctx, now := r.Context(), time.Now()
	all, err := s.Store.Sessions(ctx, begun.UserID)
	if err != nil {
		s.Log.WarnContext(ctx, "whether a user has too many sessions cannot be told", "sub", begun.UserID, "err", err)
		return
	}
	all = slices.DeleteFunc(all, func(v storage.Session) bool { return v.ID == begun.ID || !v.Live(now) })
	excess := min(maxTrimmed, max(0, len(all)+1-MaxPerUser))
	if excess == 0 {
		return
	}
	needed := vouchers(all, begun)
	all = slices.DeleteFunc(all, func(v storage.Session) bool { return needed[v.SIDRoot()] })
	slices.SortFunc(all, func(a, b storage.Session) int {
		// Sessions that one phone has confirmed share the time of its sign-in.
		return cmp.Or(a.AuthTime.Compare(b.AuthTime), a.ExpiresAt.Compare(b.ExpiresAt))
	})
	for _, v := range all[:min(excess, len(all))] {
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

// vouchers returns the SIDRoots of the session that has confirmed this one, of the one that has confirmed that, and so
// on.
func vouchers(all []storage.Session, begun storage.Session) map[string]bool {
	from := make(map[string]string, len(all))
	for _, v := range all {
		from[v.SIDRoot()] = v.From
	}
	needed := map[string]bool{}
	for root := begun.From; root != "" && !needed[root]; root = from[root] {
		needed[root] = true
	}
	return needed
}
