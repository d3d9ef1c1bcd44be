package planted

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// rollbackBugs are refusals that take back less than all, or more.
func rollbackBugs() []bug {
	const put, exchange, issue, count = "refusals leave nothing/a Put whose last",
		"refusals leave nothing/an Exchange whose last",
		"refusals leave nothing/an Issue whose last", "refusals leave nothing/a Count that was seen"
	return []bug{
		{name: "a refused Put removes what it was to remove", caught: put,
			plant: putParts(func(d driver.Doc) bool { return d.Deleted })},
		{name: "a refused Put creates what it was to create", caught: put,
			plant: putParts(func(d driver.Doc) bool { return d.Version == 0 })},
		{name: "a refused Put replaces what it was to replace", caught: put,
			plant: putParts(func(d driver.Doc) bool { return d.Version != 0 && !d.Deleted })},
		{name: "a refused Put gives the documents before the one in the way a new version", caught: put, plant: putting(
			func(ctx context.Context, b *parts, right func(...driver.Doc) (int64, error), docs []driver.Doc) (int64, error) {
				version, err := right(docs...)
				if in := (*driver.PutError)(nil); errors.As(err, &in) && len(docs) > 1 {
					if stored, missing := b.get(ctx, docs[0].Kind, docs[0].ID); missing == nil {
						right(stored)
					}
				}
				return version, err
			})},
		{name: "a refused Put leaves its ends", caught: put, plant: func(b *parts) {
			left := 0
			put, sweep := b.put, b.sweep
			b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
				version, err := put(ctx, docs...)
				if err != nil {
					left += len(docs) - 1
				}
				return version, err
			}
			b.sweep = func(ctx context.Context, at time.Time, n int) (int, error) {
				removed, err := sweep(ctx, at, n)
				removed, left = removed+left, 0
				return removed, err
			}
		}},
		{name: "a refused Exchange leaves the successors before the taken one", caught: exchange, plant: func(b *parts) {
			exchanging(b, func(right func(...driver.Token) error, _ driver.Token, _ time.Time, next []driver.Token) error {
				err := right(next...)
				if errors.Is(err, driver.ErrExists) {
					for _, x := range next {
						if b.issue(context.Background(), x) != nil {
							break
						}
					}
				}
				return err
			})
		}},
		{name: "a refused Exchange leaves its token spent", caught: exchange, plant: func(b *parts) {
			exchanging(b, func(right func(...driver.Token) error, _ driver.Token, _ time.Time, next []driver.Token) error {
				err := right(next...)
				if errors.Is(err, driver.ErrExists) {
					right()
				}
				return err
			})
		}},
		{name: "a refused Issue leaves those that were free", caught: issue, plant: func(b *parts) {
			right := b.issue
			b.issue = func(ctx context.Context, tokens ...driver.Token) error {
				err := right(ctx, tokens...)
				if errors.Is(err, driver.ErrExists) {
					for _, x := range tokens {
						right(ctx, x)
					}
				}
				return err
			}
		}},
		{name: "a refused Issue keeps its keys for ever", caught: issue, plant: func(b *parts) {
			kept := map[driver.Key]bool{}
			right := b.issue
			b.issue = func(ctx context.Context, tokens ...driver.Token) error {
				if slices.ContainsFunc(tokens, func(x driver.Token) bool { return kept[x.Key] }) {
					return driver.ErrExists
				}
				err := right(ctx, tokens...)
				for _, x := range tokens {
					kept[x.Key] = err != nil
				}
				return err
			}
		}},
		{name: "a batch seen before adds to other applications", caught: count,
			plant: seenAgain(func(c driver.Count) bool { return c.AppID != "app" })},
		{name: "a batch seen before adds to new rows", caught: count,
			plant: seenAgain(func(c driver.Count) bool { return c.Product == "new" })},
		{name: "a batch seen before leaves empty rows", caught: count, plant: func(b *parts) {
			right := b.count
			b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
				err := right(ctx, batch, counts)
				empty := slices.Clone(counts)
				for i := range empty {
					empty[i].Calls, empty[i].Errors = 0, 0
				}
				batch.Node += " empty"
				batch.Seq = emptySeq.Add(1)
				return errors.Join(err, right(ctx, batch, empty))
			}
		}},
		{name: "a refusal takes back the calls that share its transaction", caught: "refusals leave nothing/of 16 at once",
			plant: sharesRefusal},
		{name: "a call that shares its transaction with a refusal is answered and lost",
			caught: "refusals leave nothing/of 16 at once", plant: losesNeighbours},
	}
}

var emptySeq atomic.Uint64

// putParts writes some of the documents of a refused Put.
func putParts(leaves func(driver.Doc) bool) func(*parts) {
	return putting(func(_ context.Context, _ *parts, right func(...driver.Doc) (int64, error),
		docs []driver.Doc) (int64, error) {
		version, err := right(docs...)
		if err != nil {
			for _, d := range docs[:max(0, len(docs)-1)] {
				if leaves(d) {
					right(d)
				}
			}
		}
		return version, err
	})
}

// seenAgain counts some rows of a batch that was seen before.
func seenAgain(adds func(driver.Count) bool) func(*parts) {
	return func(b *parts) {
		highest := map[string]uint64{}
		right := b.count
		b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
			if batch.Seq > highest[batch.Node] {
				highest[batch.Node] = batch.Seq
				return right(ctx, batch, counts)
			}
			some := slices.DeleteFunc(slices.Clone(counts), func(c driver.Count) bool { return !adds(c) })
			batch.Node, batch.Seq = "again", emptySeq.Add(1)
			return right(ctx, batch, some)
		}
	}
}

// sharesRefusal answers a Put as the one beside it is answered.
func sharesRefusal(b *parts) {
	var refused atomic.Int64
	right := b.put
	b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
		before := refused.Load()
		version, err := right(ctx, docs...)
		if err != nil {
			refused.Add(1)
			return version, err
		}
		yield()
		if refused.Load() != before {
			return 0, driver.ErrExists
		}
		return version, nil
	}
}

// losesNeighbours takes back an Issue beside one that is refused.
func losesNeighbours(b *parts) {
	var refused atomic.Int64
	right, token := b.issue, b.token
	b.issue = func(ctx context.Context, tokens ...driver.Token) error {
		before := refused.Load()
		for _, x := range tokens {
			if _, err := token(ctx, x.Key); err == nil {
				refused.Add(1)
				return driver.ErrExists
			}
		}
		yield()
		if refused.Load() != before {
			return nil
		}
		return right(ctx, tokens...)
	}
}
