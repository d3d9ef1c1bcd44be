package planted

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// clauseBugs are statements that lack a clause, or have one too many.
func clauseBugs() []bug {
	const taken, joins = "Issue and Token/a taken key is refused", "Revocations/revocations of one call join"
	without := func(kind string) func(*parts) {
		return judging(func(r driver.Revocation, t driver.Token) bool { return r.Kind != kind && r.Covers(t) })
	}
	swallow := func(err error) error {
		if errors.Is(err, driver.ErrExists) {
			return nil
		}
		return err
	}
	return []bug{
		{name: "Issue does nothing on a conflict", caught: taken, plant: func(b *parts) {
			issue := b.issue
			b.issue = func(ctx context.Context, tokens ...driver.Token) error { return swallow(issue(ctx, tokens...)) }
		}},
		{name: "Issue skips what conflicts", caught: "Issue and Token/with one taken key none", plant: func(b *parts) {
			issue := b.issue
			b.issue = func(ctx context.Context, tokens ...driver.Token) error {
				for _, t := range tokens {
					if err := swallow(issue(ctx, t)); err != nil {
						return err
					}
				}
				return nil
			}
		}},
		{name: "Exchange skips what conflicts", caught: "Exchange refuses/ErrExists: what follows is taken",
			plant: func(b *parts) {
				exchanging(b, func(right func(...driver.Token) error, _ driver.Token, _ time.Time, next []driver.Token) error {
					if err := right(next...); !errors.Is(err, driver.ErrExists) {
						return err
					}
					return right()
				})
			}},
		{name: "Exchange does nothing on a conflict", caught: "Exchange/of 16 exchanges that bring the same",
			plant: func(b *parts) {
				exchanging(b, func(right func(...driver.Token) error, _ driver.Token, _ time.Time, next []driver.Token) error {
					return swallow(right(next...))
				})
			}},
		{name: "Put does nothing on a conflict", caught: "Put refuses/creating what is there", plant: putting(
			func(_ context.Context, _ *parts, right func(...driver.Doc) (int64, error), docs []driver.Doc) (int64, error) {
				version, err := right(docs...)
				return max(version, 1), swallow(err)
			})},
		{name: "Put does not see that no row was updated", caught: "Put refuses/replacing a version that is no more",
			plant: putting(
				func(_ context.Context, _ *parts, right func(...driver.Doc) (int64, error), docs []driver.Doc) (int64, error) {
					version, err := right(docs...)
					if errors.Is(err, driver.ErrConflict) {
						return 1, nil
					}
					return version, err
				})},
		{name: "Put calls every refusal a conflict", caught: "Put refuses/creating what is there",
			plant: putErrors(func(in *driver.PutError, _ []driver.Doc) error {
				return &driver.PutError{Kind: in.Kind, ID: in.ID, Err: driver.ErrConflict}
			})},
		{name: "Put calls every refusal a document that exists", caught: "Put refuses/replacing a version that is no more",
			plant: putErrors(func(in *driver.PutError, _ []driver.Doc) error {
				return &driver.PutError{Kind: in.Kind, ID: in.ID, Err: driver.ErrExists}
			})},
		{name: "PutError names the last document", caught: "Put refuses/one document in the way",
			plant: putErrors(func(in *driver.PutError, docs []driver.Doc) error {
				return &driver.PutError{Kind: docs[len(docs)-1].Kind, ID: docs[len(docs)-1].ID, Err: in.Err}
			})},
		{name: "PutError has no kind", caught: "Put refuses/creating what is there",
			plant: putErrors(func(in *driver.PutError, _ []driver.Doc) error {
				return &driver.PutError{ID: in.ID, Err: in.Err}
			})},
		{name: "Exchange looks for no grant", caught: "Revoke/a grant's revocation", plant: without(driver.RevokeGrant)},
		{name: "Exchange looks for no application", caught: "Revoke/an application's revocation",
			plant: without(driver.RevokeApp)},
		{name: "Exchange looks for no user", caught: "Revoke/a user's revocation", plant: without(driver.RevokeUser)},
		{name: "a consent ends all of its user", caught: "Revoke/a revocation ends nothing of another",
			plant: judging(func(r driver.Revocation, t driver.Token) bool {
				return r.Covers(t) || r.Kind == driver.RevokeConsent && r.ID == driver.ConsentID("app b", t.UserID)
			})},
		{name: "a consent has no Before", caught: "Revoke/a consent's revocation",
			plant: judging(func(r driver.Revocation, t driver.Token) bool {
				return r.Covers(t) || r.Kind == driver.RevokeConsent && r.ID == driver.ConsentID(t.AppID, t.UserID)
			})},
		{name: "an application's revocation has no Before", caught: "Revoke/an application's revocation",
			plant: judging(func(r driver.Revocation, t driver.Token) bool {
				return r.Covers(t) || r.Kind == driver.RevokeApp && r.ID == t.AppID
			})},
		{name: "Exchange looks for taken keys before it looks for spent", caught: "Exchange refuses/ErrSpent",
			plant: existsFirst},
		{name: "Exchange looks for taken keys before all", caught: "Exchange refuses/ErrNotFound", plant: existsFirst},
		{name: "Exchange finds a spent token to be missing", caught: "Exchange refuses/ErrSpent",
			plant: verdictIs(driver.ErrSpent, driver.ErrNotFound)},
		{name: "Exchange finds a revoked token to be spent", caught: "Exchange refuses/ErrRevoked",
			plant: verdictIs(driver.ErrRevoked, driver.ErrSpent)},
		{name: "Exchange finds a taken key to be a conflict", caught: "Exchange refuses/ErrExists: what follows is taken",
			plant: verdictIs(driver.ErrExists, driver.ErrConflict)},
		{name: "one revocation twice in a call fails", caught: joins, plant: func(b *parts) {
			revoke := b.revoke
			b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
				for i, r := range rs {
					if slices.ContainsFunc(rs[:i], func(o driver.Revocation) bool { return o.Kind == r.Kind && o.ID == r.ID }) {
						return errTwice
					}
				}
				return revoke(ctx, rs...)
			}
		}},
		{name: "of one revocation twice in a call the last counts", caught: joins, plant: func(b *parts) {
			revoke := b.revoke
			b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
				rs = slices.Clone(rs)
				slices.Reverse(rs)
				seen := map[about]bool{}
				rs = slices.DeleteFunc(rs, func(r driver.Revocation) bool {
					defer func() { seen[about{r.Kind, r.ID}] = true }()
					return seen[about{r.Kind, r.ID}]
				})
				slices.Reverse(rs)
				return revoke(ctx, rs...)
			}
		}},
		{name: "joining takes the greatest Until that is not null", caught: "Revocations/joining keeps the later Before and",
			plant: greatest},
		{name: "the kinds of revocations are not told apart", caught: "Revocations/revocations that differ in kind or id",
			plant: func(b *parts) {
				revoke := b.revoke
				b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
					rs = slices.Clone(rs)
					for i := range rs {
						rs[i].Kind = driver.RevokeUser
					}
					return revoke(ctx, rs...)
				}
			}},
	}
}

func verdictIs(right, wrong error) func(*parts) {
	return func(b *parts) {
		exchanging(b, func(exchange func(...driver.Token) error, _ driver.Token, _ time.Time, next []driver.Token) error {
			err := exchange(next...)
			if errors.Is(err, right) {
				return wrong
			}
			return err
		})
	}
}

func existsFirst(b *parts) {
	exchange := b.exchange
	b.exchange = func(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
		for _, x := range next {
			if _, err := b.token(ctx, x.Key); err == nil {
				return driver.ErrExists
			}
		}
		return exchange(ctx, key, at, next...)
	}
}

// greatest joins as greatest() does, which takes no null: no Until is then the earliest.
func greatest(b *parts) {
	until := map[about]time.Time{}
	revoke, revocations := b.revoke, b.revocations
	b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
		for _, r := range rs {
			if name := (about{r.Kind, r.ID}); r.Until.After(until[name]) {
				until[name] = r.Until.UTC()
			}
		}
		return revoke(ctx, rs...)
	}
	b.revocations = func(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
		feed, err := revocations(ctx, after, n)
		for i, r := range feed {
			feed[i].Until = until[about{r.Kind, r.ID}]
		}
		return feed, err
	}
}
