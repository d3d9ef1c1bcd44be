package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Issue stores all tokens or none.
func (s *Store) Issue(ctx context.Context, tokens ...driver.Token) error {
	return s.step(ctx, func() error {
		if s.taken(tokens) {
			return driver.ErrExists
		}
		s.add(tokens)
		return nil
	})
}

// Token returns the token with this key.
func (s *Store) Token(ctx context.Context, key driver.Key) (t driver.Token, err error) {
	err = s.step(ctx, func() error {
		var there bool
		if t, there = s.tokens[key]; !there {
			return driver.ErrNotFound
		}
		return nil
	})
	return t, err
}

// Exchange spends one token and stores next. The order of the cases is the order of the
// verdicts.
func (s *Store) Exchange(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
	return s.step(ctx, func() error {
		t, there := s.tokens[key]
		switch {
		case !there:
			return driver.ErrNotFound
		case !t.SpentAt.IsZero():
			return driver.ErrSpent
		case s.covered(t):
			return driver.ErrRevoked
		case s.taken(next):
			return driver.ErrExists
		}
		t.SpentAt = plain(at)
		s.tokens[key] = t
		s.add(next)
		return nil
	})
}

// taken reports whether a key of these tokens is in use, or appears twice among them.
func (s *Store) taken(tokens []driver.Token) bool {
	seen := make(map[driver.Key]bool, len(tokens))
	for _, t := range tokens {
		if _, there := s.tokens[t.Key]; there || seen[t.Key] {
			return true
		}
		seen[t.Key] = true
	}
	return false
}

func (s *Store) add(tokens []driver.Token) {
	for _, t := range tokens {
		for _, at := range []*time.Time{&t.GrantedAt, &t.IssuedAt, &t.ExpiresAt, &t.SpentAt, &t.AuthTime} {
			*at = plain(*at)
		}
		s.tokens[t.Key] = t
	}
}

// covered asks the facts, not the token: a token that is written after the revocation
// that ends it is ended all the same.
func (s *Store) covered(t driver.Token) bool {
	for _, about := range []name{
		{driver.RevokeGrant, t.Grant},
		{driver.RevokeApp, t.AppID},
		{driver.RevokeUser, t.UserID},
		{driver.RevokeConsent, driver.ConsentID(t.AppID, t.UserID)},
	} {
		if r, there := s.revocations[about]; there && r.Covers(t) {
			return true
		}
	}
	return false
}

// Revoke stores revocations, each joined with an older one of its kind and id.
func (s *Store) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	return s.step(ctx, func() error {
		for _, r := range rs {
			about := name{r.Kind, r.ID}
			if older, there := s.revocations[about]; there {
				r = r.Join(older)
			}
			r.Before, r.Until = plain(r.Before), plain(r.Until)
			s.revoked++
			r.Seq = s.revoked
			s.revocations[about] = r
		}
		return nil
	})
}

// Revocations returns the feed behind after.
func (s *Store) Revocations(ctx context.Context, after uint64, n int) (feed []driver.Revocation, err error) {
	err = s.step(ctx, func() error {
		for r := range maps.Values(s.revocations) {
			if r.Seq > after {
				feed = append(feed, r)
			}
		}
		slices.SortFunc(feed, func(a, b driver.Revocation) int { return cmp.Compare(a.Seq, b.Seq) })
		feed = feed[:min(n, len(feed))]
		return nil
	})
	return feed, err
}
