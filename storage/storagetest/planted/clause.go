package planted

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
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
		{name: "Exchange skips what conflicts", caught: "Exchange refuses/ErrExists: what follows is taken", plant: func(b *parts) {
			exchanging(b, func(right func(...driver.Token) error, _ driver.Token, _ time.Time, next []driver.Token) error {
				if err := right(next...); !errors.Is(err, driver.ErrExists) {
					return err
				}
				return right()
			})
		}},
		{name: "Exchange does nothing on a conflict", caught: "Exchange/of 16 exchanges that bring the same", plant: func(b *parts) {
			exchanging(b, func(right func(...driver.Token) error, _ driver.Token, _ time.Time, next []driver.Token) error {
				return swallow(right(next...))
			})
		}},
		{name: "Put does nothing on a conflict", caught: "Put refuses/creating what is there", plant: putting(
			func(_ context.Context, _ *parts, right func(...driver.Doc) (int64, error), docs []driver.Doc) (int64, error) {
				version, err := right(docs...)
				return max(version, 1), swallow(err)
			})},
		{name: "Put does not see that no row was updated", caught: "Put refuses/replacing a version that is no more", plant: putting(
			func(_ context.Context, _ *parts, right func(...driver.Doc) (int64, error), docs []driver.Doc) (int64, error) {
				version, err := right(docs...)
				if errors.Is(err, driver.ErrConflict) {
					return 1, nil
				}
				return version, err
			})},
		{name: "Put calls every refusal a conflict", caught: "Put refuses/creating what is there", plant: putErrors(func(in *driver.PutError, _ []driver.Doc) error {
			return &driver.PutError{Kind: in.Kind, ID: in.ID, Err: driver.ErrConflict}
		})},
		{name: "Put calls every refusal a document that exists", caught: "Put refuses/replacing a version that is no more", plant: putErrors(func(in *driver.PutError, _ []driver.Doc) error {
			return &driver.PutError{Kind: in.Kind, ID: in.ID, Err: driver.ErrExists}
		})},
		{name: "PutError names the last document", caught: "Put refuses/one document in the way", plant: putErrors(func(in *driver.PutError, docs []driver.Doc) error {
			return &driver.PutError{Kind: docs[len(docs)-1].Kind, ID: docs[len(docs)-1].ID, Err: in.Err}
		})},
		{name: "PutError has no kind", caught: "Put refuses/creating what is there", plant: putErrors(func(in *driver.PutError, _ []driver.Doc) error {
			return &driver.PutError{ID: in.ID, Err: in.Err}
		})},
		{name: "Exchange looks for no grant", caught: "Revoke/a grant's revocation", plant: without(driver.RevokeGrant)},
		{name: "Exchange looks for no application", caught: "Revoke/an application's revocation", plant: without(driver.RevokeApp)},
		{name: "Exchange looks for no user", caught: "Revoke/a user's revocation", plant: without(driver.RevokeUser)},
		{name: "a consent ends all of its user", caught: "Revoke/a revocation ends nothing of another", plant: judging(func(r driver.Revocation, t driver.Token) bool {
			return r.Covers(t) || r.Kind == driver.RevokeConsent && r.ID == driver.ConsentID("app b", t.UserID)
		})},
		{name: "a consent has no Before", caught: "Revoke/a consent's revocation", plant: judging(func(r driver.Revocation, t driver.Token) bool {
			return r.Covers(t) || r.Kind == driver.RevokeConsent && r.ID == driver.ConsentID(t.AppID, t.UserID)
		})},
		{name: "an application's revocation has no Before", caught: "Revoke/an application's revocation", plant: judging(func(r driver.Revocation, t driver.Token) bool {
			return r.Covers(t) || r.Kind == driver.RevokeApp && r.ID == t.AppID
		})},
		{name: "Exchange looks for taken keys before it looks for spent", caught: "Exchange refuses/ErrSpent", plant: existsFirst},
		{name: "Exchange looks for taken keys before all", caught: "Exchange refuses/ErrNotFound", plant: existsFirst},
		{name: "Exchange finds a spent token to be missing", caught: "Exchange refuses/ErrSpent", plant: verdictIs(driver.ErrSpent, driver.ErrNotFound)},
		{name: "Exchange finds a revoked token to be spent", caught: "Exchange refuses/ErrRevoked", plant: verdictIs(driver.ErrRevoked, driver.ErrSpent)},
		{name: "Exchange finds a taken key to be a conflict", caught: "Exchange refuses/ErrExists: what follows is taken", plant: verdictIs(driver.ErrExists, driver.ErrConflict)},
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
		{name: "joining takes the greatest Until that is not null", caught: "Revocations/joining keeps the later Before and", plant: greatest},
		{name: "the kinds of revocations are not told apart", caught: "Revocations/revocations that differ in kind or id", plant: func(b *parts) {
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

// locks are those of a database that finds deadlocks by waiting.
type locks struct{ held sync.Map }

var errDeadlock = errors.New("deadlock detected")

// each takes the locks one by one, in the order given, and lets go of all.
func (l *locks) each(names []string, do func() error) error {
	var mine []string
	defer func() {
		for _, name := range mine {
			l.held.Delete(name)
		}
	}()
	for _, name := range names {
		taken := false
		await(3*time.Millisecond, func() bool {
			_, busy := l.held.LoadOrStore(name, true)
			taken = !busy
			return taken
		})
		if !taken {
			return errDeadlock
		}
		if mine = append(mine, name); len(mine) == 1 {
			yield()
		}
	}
	return do()
}

// lockBugs take their locks in the order in which a call names its records, or tell the caller of
// a transaction that the database would have run again.
func lockBugs() []bug {
	return []bug{
		{name: "Put locks documents in the order of the call", caught: "many writers/8 creations of the same", plant: putLocks},
		{name: "Put locks stored documents in the order of the call", caught: "many writers/8 writers who move units", plant: putLocks},
		{name: "Issue locks keys in the order of the call", caught: "many writers/8 issues of the same keys", plant: func(b *parts) {
			var l locks
			issue := b.issue
			b.issue = func(ctx context.Context, tokens ...driver.Token) error {
				return l.each(keysOf(tokens), func() error { return issue(ctx, tokens...) })
			}
		}},
		{name: "Exchange locks keys in the order of the call", caught: "many writers/8 exchanges that bring", plant: func(b *parts) {
			var l locks
			exchange := b.exchange
			b.exchange = func(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
				return l.each(keysOf(next), func() error { return exchange(ctx, key, at, next...) })
			}
		}},
		{name: "Revoke locks rows in the order of the call", caught: "many writers/8 callers who revoke the same", plant: func(b *parts) {
			var l locks
			revoke := b.revoke
			b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
				var names []string
				for _, r := range rs {
					names = append(names, r.ID)
				}
				return l.each(names, func() error { return revoke(ctx, rs...) })
			}
		}},
		{name: "Count locks rows in the order of the batch", caught: "many writers/8 nodes that count", plant: func(b *parts) {
			var l locks
			count := b.count
			b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
				var names []string
				for _, c := range counts {
					names = append(names, c.Product)
				}
				return l.each(slices.Compact(names), func() error { return count(ctx, batch, counts) })
			}
		}},
		{name: "Put tells of a transaction that could not be serialized", caught: "Put and Get/32 increments", plant: func(b *parts) {
			put := b.put
			b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
				yield()
				version, err := put(ctx, docs...)
				if errors.Is(err, driver.ErrConflict) {
					err = errSerial
				}
				return version, err
			}
		}},
		{name: "Exchange tells of a transaction that could not be serialized", caught: "Exchange/of 32 exchanges of one token", plant: serialExchange},
		{name: "Count tells of a transaction that could not be serialized", caught: "Count/16 nodes that count at once", plant: func(b *parts) {
			var busy atomic.Int32
			count := b.count
			b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
				defer busy.Add(-1)
				if busy.Add(1) > 1 {
					return errSerial
				}
				yield()
				return count(ctx, batch, counts)
			}
		}},
	}
}

var errSerial = errors.New("could not serialize access due to concurrent update")

func serialExchange(b *parts) {
	read := make(meeting)
	exchanging(b, func(right func(...driver.Token) error, t driver.Token, _ time.Time, next []driver.Token) error {
		read.wait()
		err := right(next...)
		if errors.Is(err, driver.ErrSpent) && t.SpentAt.IsZero() {
			return errSerial
		}
		return err
	})
}

func keysOf(tokens []driver.Token) (names []string) {
	for _, x := range tokens {
		names = append(names, string(x.Key[:]))
	}
	return names
}

func putLocks(b *parts) {
	var l locks
	put := b.put
	b.put = func(ctx context.Context, docs ...driver.Doc) (version int64, err error) {
		var names []string
		for _, d := range docs {
			names = append(names, fmt.Sprint(d.Kind, "/", d.ID))
		}
		err = l.each(names, func() error {
			version, err = put(ctx, docs...)
			return err
		})
		return version, err
	}
}
