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
		{name: "Put locks documents in the order of the call", caught: "many writers/8 creations of the same",
			plant: putLocks},
		{name: "Put locks stored documents in the order of the call", caught: "many writers/8 writers who move units",
			plant: putLocks},
		{name: "Issue locks keys in the order of the call", caught: "many writers/8 issues of the same keys",
			plant: func(b *parts) {
				var l locks
				issue := b.issue
				b.issue = func(ctx context.Context, tokens ...driver.Token) error {
					return l.each(keysOf(tokens), func() error { return issue(ctx, tokens...) })
				}
			}},
		{name: "Exchange locks keys in the order of the call", caught: "many writers/8 exchanges that bring",
			plant: func(b *parts) {
				var l locks
				exchange := b.exchange
				b.exchange = func(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
					return l.each(keysOf(next), func() error { return exchange(ctx, key, at, next...) })
				}
			}},
		{name: "Revoke locks rows in the order of the call", caught: "many writers/8 callers who revoke the same",
			plant: func(b *parts) {
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
		{name: "Count locks rows in the order of the batch", caught: "many writers/8 nodes that count",
			plant: func(b *parts) {
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
		{name: "Put tells of a transaction that could not be serialized", caught: "Put and Get/32 increments",
			plant: func(b *parts) {
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
		{name: "Exchange tells of a transaction that could not be serialized",
			caught: "Exchange/of 32 exchanges of one token", plant: serialExchange},
		{name: "Count tells of a transaction that could not be serialized", caught: "Count/16 nodes that count at once",
			plant: func(b *parts) {
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
