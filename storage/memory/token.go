package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/keystile/keystile/storage"
)

// Issue stores all tokens or none.
func (s *Store) Issue(ctx context.Context, tokens ...storage.Token) error {
	return s.step(ctx, func() error {
		if s.taken(tokens) {
			return storage.ErrExists
		}
		s.add(tokens)
		return nil
	})
}

// Token returns the token with this key.
func (s *Store) Token(ctx context.Context, key storage.Key) (t storage.Token, err error) {
	err = s.step(ctx, func() error {
		var there bool
		if t, there = s.tokens[key]; !there {
			return storage.ErrNotFound
		}
		return nil
	})
	return t, err
}

// Exchange spends one token and stores next. The order of the cases is the order of the
// verdicts.
func (s *Store) Exchange(ctx context.Context, key storage.Key, at time.Time, next ...storage.Token) error {
	return s.step(ctx, func() error {
		t, there := s.tokens[key]
		switch {
		case !there:
			return storage.ErrNotFound
		case !t.SpentAt.IsZero():
			return storage.ErrSpent
		case s.covered(t):
			return storage.ErrRevoked
		case s.taken(next):
			return storage.ErrExists
		}
		t.SpentAt = plain(at)
		s.tokens[key] = t
		s.add(next)
		return nil
	})
}

// taken reports whether a key of these tokens is in use, or appears twice among them.
func (s *Store) taken(tokens []storage.Token) bool {
	seen := make(map[storage.Key]bool, len(tokens))
	for _, t := range tokens {
		if _, there := s.tokens[t.Key]; there || seen[t.Key] {
			return true
		}
		seen[t.Key] = true
	}
	return false
}

func (s *Store) add(tokens []storage.Token) {
	for _, t := range tokens {
		for _, at := range []*time.Time{&t.GrantedAt, &t.IssuedAt, &t.ExpiresAt, &t.SpentAt, &t.AuthTime} {
			*at = plain(*at)
		}
		s.tokens[t.Key] = t
	}
}

// covered asks the facts, not the token: a token that is written after the revocation
// that ends it is ended all the same.
func (s *Store) covered(t storage.Token) bool {
	for _, about := range []name{
		{storage.RevokeGrant, t.Grant},
		{storage.RevokeApp, t.AppID},
		{storage.RevokeUser, t.UserID},
		{storage.RevokeConsent, storage.ConsentID(t.AppID, t.UserID)},
	} {
		if r, there := s.revocations[about]; there && r.Covers(t) {
			return true
		}
	}
	return false
}

// Revoke stores revocations, each joined with an older one of its kind and id.
func (s *Store) Revoke(ctx context.Context, rs ...storage.Revocation) error {
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
func (s *Store) Revocations(ctx context.Context, after uint64, n int) (feed []storage.Revocation, err error) {
	err = s.step(ctx, func() error {
		for r := range maps.Values(s.revocations) {
			if r.Seq > after {
				feed = append(feed, r)
			}
		}
		slices.SortFunc(feed, func(a, b storage.Revocation) int { return cmp.Compare(a.Seq, b.Seq) })
		feed = feed[:min(n, len(feed))]
		return nil
	})
	return feed, err
}
