package planted

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// crowdBugs do in two transactions what is one step, or number before they commit.
func crowdBugs() []bug {
	const half, trail, feed = "many writers/a reader beside it sees", "many writers/two readers at the end of the trail",
		"many writers/two readers at the end of the feed"
	return []bug{
		{name: "Seqs of the trail are a sequence's", caught: trail, plant: commitsRecordsLate},
		{name: "Seqs of the feed are a sequence's", caught: feed, plant: commitsLate},
		{name: "a long Append is two transactions", caught: trail, plant: func(b *parts) {
			var readers looks
			add, records := b.append, b.records
			b.append = func(ctx context.Context, rs ...driver.Record) error {
				if len(rs) == 1 {
					return add(ctx, rs...)
				}
				err := add(ctx, rs[:len(rs)/2]...)
				readers.awaitOne()
				return errors.Join(err, add(ctx, rs[len(rs)/2:]...))
			}
			b.records = func(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
				defer readers.one()
				return records(ctx, after, n)
			}
		}},
		{name: "a long Revoke is two transactions", caught: feed, plant: func(b *parts) {
			var readers looks
			revoke, revocations := b.revoke, b.revocations
			b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
				if len(rs) == 1 {
					return revoke(ctx, rs...)
				}
				err := revoke(ctx, rs[:len(rs)/2]...)
				readers.awaitOne()
				return errors.Join(err, revoke(ctx, rs[len(rs)/2:]...))
			}
			b.revocations = func(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
				defer readers.one()
				return revocations(ctx, after, n)
			}
		}},
		{name: "Issue is a transaction for each token", caught: half, plant: func(b *parts) {
			issue := b.issue
			b.issue = func(ctx context.Context, tokens ...driver.Token) error {
				for _, t := range tokens {
					if err := issue(ctx, t); err != nil {
						return err
					}
					yield()
				}
				return nil
			}
		}},
		{name: "Exchange spends in a transaction of its own", caught: half, plant: func(b *parts) {
			exchanging(b, func(right func(...driver.Token) error, _ driver.Token, _ time.Time, next []driver.Token) error {
				if err := right(); err != nil {
					return err
				}
				yield()
				return b.issue(context.Background(), next...)
			})
		}},
		{name: "Exchange stores what follows in a transaction of its own", caught: half, plant: func(b *parts) {
			exchanging(b, func(right func(...driver.Token) error, _ driver.Token, _ time.Time, next []driver.Token) error {
				if err := b.issue(context.Background(), next...); err != nil {
					return err
				}
				yield()
				return right()
			})
		}},
		{name: "Count is a transaction for each row", caught: half, plant: func(b *parts) {
			count := b.count
			b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
				node := batch.Node
				for _, c := range counts {
					batch.Node = node + c.Product
					if err := count(ctx, batch, []driver.Count{c}); err != nil {
						return err
					}
					yield()
				}
				return nil
			}
		}},
		{name: "Put is a transaction for each document", caught: "many writers/8 writers who move units", plant: eachDoc},
		{name: "Put creates in a transaction for each document", caught: "many writers/8 creations of the same",
			plant: eachDoc},
		{name: "Exchange looks for revocations long before it spends",
			caught: "many writers/of 16 exchanges beside revocations", plant: func(b *parts) {
				var late atomic.Bool
				revoke := b.revoke
				b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
					defer late.Store(true)
					return revoke(ctx, rs...)
				}
				exchanging(b, func(right func(...driver.Token) error, t driver.Token, _ time.Time, next []driver.Token) error {
					covered := covering(b, t, driver.Revocation.Covers)
					yield()
					err := right(next...)
					if errors.Is(err, driver.ErrRevoked) && !covered {
						return b.issue(context.Background(), next...)
					}
					return err
				})
			}},
		{name: "a sweep counts what another has removed", caught: "many writers/4 sweeps at once", plant: func(b *parts) {
			sweep := b.sweep
			b.sweep = countsTwice(func(ctx context.Context, at time.Time, n int) (int, error) { return sweep(ctx, at, n) })
		}},
		{name: "a sweep beside another is a deadlock", caught: "many writers/4 sweeps at once", plant: func(b *parts) {
			var busy atomic.Int32
			sweep := b.sweep
			b.sweep = func(ctx context.Context, at time.Time, n int) (int, error) {
				defer busy.Add(-1)
				if busy.Add(1) > 1 {
					return 0, errDeadlock
				}
				yield()
				return sweep(ctx, at, n)
			}
		}},
		{name: "a sweep removes what it found before the end was moved",
			caught: "many writers/a document whose end is moved on", plant: sweepsLate},
		{name: "a prune counts what another has removed", caught: "many writers/4 prunes at once", plant: func(b *parts) {
			prune := b.prune
			b.prune = countsTwice(prune)
		}},
	}
}

// countsTwice says how many there were before others removed them.
func countsTwice[T any](remove func(context.Context, T, int) (int, error)) func(context.Context, T, int) (int, error) {
	var busy atomic.Int32
	return func(ctx context.Context, at T, n int) (int, error) {
		beside := busy.Add(1) > 1
		defer busy.Add(-1)
		yield()
		removed, err := remove(ctx, at, n)
		if beside {
			removed++
		}
		return removed, err
	}
}

func eachDoc(b *parts) {
	put := b.put
	b.put = func(ctx context.Context, docs ...driver.Doc) (version int64, err error) {
		for _, d := range docs {
			if version, err = put(ctx, d); err != nil {
				return 0, err
			}
			yield()
		}
		return version, nil
	}
}

// sweepsLate finds what has ended, and removes it later by its name.
func sweepsLate(b *parts) {
	var ends sync.Map
	var m = make(meeting)
	put, sweep := b.put, b.sweep
	b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
		version, err := put(ctx, docs...)
		if err == nil {
			for _, d := range docs {
				ends.Store(d.ID, d)
			}
			if docs[0].Version != 0 && !docs[0].Deleted {
				m.wait()
				yield()
			}
		}
		return version, err
	}
	b.sweep = func(ctx context.Context, at time.Time, n int) (int, error) {
		var due []driver.Doc
		ends.Range(func(_, v any) bool {
			if d := v.(driver.Doc); !d.Deleted && !d.ExpiresAt.IsZero() && !d.ExpiresAt.After(at) {
				due = append(due, d)
			}
			return true
		})
		m.wait()
		for _, d := range due {
			if stored, err := b.get(ctx, d.Kind, d.ID); err == nil {
				stored.Deleted = true
				put(ctx, stored)
			}
		}
		removed, err := sweep(ctx, at, n)
		return removed + len(due), err
	}
}
