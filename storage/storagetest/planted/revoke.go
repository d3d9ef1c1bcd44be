package planted

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// covering asks every stored revocation what it means to an adapter that is wrong.
func covering(b *parts, t driver.Token, covers func(driver.Revocation, driver.Token) bool) bool {
	feed, _ := b.revocations(context.Background(), 0, driver.Page)
	return slices.ContainsFunc(feed, func(r driver.Revocation) bool { return covers(r, t) })
}

// judging puts an Exchange in that reads revocations in a wrong way.
func judging(covers func(driver.Revocation, driver.Token) bool) func(*parts) {
	return func(b *parts) {
		exchanging(b, func(right func(...driver.Token) error, t driver.Token, _ time.Time, next []driver.Token) error {
			wrong := covering(b, t, covers)
			switch err := right(next...); {
			case wrong && err == nil:
				return driver.ErrRevoked
			case !wrong && errors.Is(err, driver.ErrRevoked):
				return b.issue(context.Background(), next...)
			default:
				return err
			}
		})
	}
}

func revokeBugs() []bug {
	return []bug{
		{name: "Exchange ignores revocations", caught: "Revoke/a grant's revocation ends its tokens",
			plant: judging(func(driver.Revocation, driver.Token) bool { return false })},
		{name: "a grant's revocation has a Before", caught: "Revoke/a grant's revocation ends its tokens",
			plant: judging(func(r driver.Revocation, t driver.Token) bool {
				return r.Covers(t) && (r.Kind != driver.RevokeGrant || t.GrantedAt.Before(r.Before))
			})},
		{name: "an application's revocation ends what was granted at Before", caught: "Revoke/an application's revocation",
			plant: judging(func(r driver.Revocation, t driver.Token) bool {
				r.Before = r.Before.Add(1)
				return r.Covers(t)
			})},
		{name: "a user's revocation is compared by the second", caught: "Revoke/a user's revocation",
			plant: judging(func(r driver.Revocation, t driver.Token) bool {
				r.Before = r.Before.Truncate(time.Second)
				return r.Covers(t)
			})},
		{name: "a user's revocation is compared with IssuedAt", caught: "Revoke/a user's revocation",
			plant: judging(func(r driver.Revocation, t driver.Token) bool {
				t.GrantedAt = t.IssuedAt.Add(-1)
				return r.Covers(t)
			})},
		{name: "a jti covers stored tokens", caught: "Revoke/an access token's revocation",
			plant: judging(func(r driver.Revocation, t driver.Token) bool {
				return r.Covers(t) || r.Kind == driver.RevokeJTI && r.ID == t.Grant
			})},
		{name: "the kind of a revocation is not read", caught: "Revoke/a revocation ends nothing of another name or kind",
			plant: judging(func(r driver.Revocation, t driver.Token) bool { return r.ID == t.AppID || r.Covers(t) })},
		{name: "a revocation covers by prefix", caught: "Revoke/a revocation ends nothing of another name or kind",
			plant: judging(func(r driver.Revocation, t driver.Token) bool {
				return r.Covers(t) || r.Kind == driver.RevokeUser && strings.HasPrefix(t.UserID, r.ID)
			})},
		{name: "consents are not looked at", caught: "Revoke/a consent's revocation",
			plant: judging(func(r driver.Revocation, t driver.Token) bool {
				return r.Kind != driver.RevokeConsent && r.Covers(t)
			})},
		{name: "a consent's revocation ends all of its application",
			caught: "Revoke/a revocation ends nothing of another name or kind",
			plant: judging(func(r driver.Revocation, t driver.Token) bool {
				return r.Covers(t) || r.Kind == driver.RevokeConsent && strings.HasPrefix(r.ID, t.AppID)
			})},
		{name: "a revocation is over at its Until", caught: "Revoke/a revocation holds until it is swept",
			plant: overAtUntil},
		{name: "Revoke marks the tokens there are", caught: "Revoke/a token that is issued after the revocation",
			plant: marksTokens},
		{name: "a successor escapes a revocation beside it", caught: "Revoke/a successor that appears beside",
			plant: marksTokens},
		{name: "Revoke replaces an older Before", caught: "Revoke joins/joining never moves Before back", plant: replaces},
		{name: "Revoke keeps the older Before", caught: "Revoke joins/joining moves Before on", plant: keepsFirst},
		{name: "Revoke replaces an older Until", caught: "Revocations/joining keeps the later Before and the later Until",
			plant: replaces},
	}
}

func overAtUntil(b *parts) {
	exchanging(b, func(right func(...driver.Token) error, t driver.Token, at time.Time, next []driver.Token) error {
		err := right(next...)
		holds := func(r driver.Revocation, t driver.Token) bool {
			return r.Covers(t) && (r.Until.IsZero() || at.Before(r.Until))
		}
		if errors.Is(err, driver.ErrRevoked) && !covering(b, t, holds) {
			return nil
		}
		return err
	})
}

// marksTokens spares every token that came after the first revocation.
func marksTokens(b *parts) {
	var exempted sync.Map
	exempt := func(tokens []driver.Token) {
		if feed, _ := b.revocations(context.Background(), 0, 1); len(feed) > 0 {
			for _, t := range tokens {
				exempted.Store(t.Key, true)
			}
		}
	}
	issue := b.issue
	exchanging(b, func(right func(...driver.Token) error, t driver.Token, _ time.Time, next []driver.Token) error {
		err := right(next...)
		if _, ok := exempted.Load(t.Key); ok && errors.Is(err, driver.ErrRevoked) {
			return nil
		}
		yield()
		exempt(next)
		return err
	})
	b.issue = func(ctx context.Context, tokens ...driver.Token) error {
		exempt(tokens)
		return issue(ctx, tokens...)
	}
}

type about struct{ kind, id string }

// replaces shows the last call's revocations, and decides by them.
func replaces(b *parts) {
	remembering(b, func(_, last driver.Revocation) driver.Revocation { return last })
}

// keepsFirst shows what the first call brought.
func keepsFirst(b *parts) {
	remembering(b, func(first, _ driver.Revocation) driver.Revocation { return first })
}

func remembering(b *parts, choose func(first, last driver.Revocation) driver.Revocation) {
	known := map[about]driver.Revocation{}
	revoke, revocations := b.revoke, b.revocations
	b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
		for _, r := range rs {
			if first, there := known[about{r.Kind, r.ID}]; there {
				known[about{r.Kind, r.ID}] = choose(first, r)
			} else {
				known[about{r.Kind, r.ID}] = r
			}
		}
		return revoke(ctx, rs...)
	}
	b.revocations = func(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
		feed, err := revocations(ctx, after, n)
		for i, r := range feed {
			feed[i].Before, feed[i].Until = known[about{r.Kind, r.ID}].Before.UTC(), known[about{r.Kind, r.ID}].Until.UTC()
		}
		return feed, err
	}
	judging(driver.Revocation.Covers)(b)
}
