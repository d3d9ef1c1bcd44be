package planted

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// cutBugs are calls that a caller who leaves cuts in two.
func cutBugs() []bug {
	const put, tokens, feeds, reads = "calls cut short/a Put", "calls cut short/an Issue or an Exchange",
		"calls cut short/a Revoke or an Append", "calls cut short/a canceled read"
	return []bug{
		{name: "a canceled Put has written some documents", caught: put, plant: func(b *parts) {
			put := b.put
			b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
				if len(docs) < 3 {
					return put(ctx, docs...)
				}
				version, err := put(context.WithoutCancel(ctx), docs[0])
				yield()
				if err == nil {
					version, err = put(ctx, docs[1:]...)
				}
				return version, err
			}
		}},
		{name: "a canceled Put answers nil and has written nothing", caught: put, plant: func(b *parts) {
			put := b.put
			b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
				yield()
				version, err := put(ctx, docs...)
				if ctx.Err() != nil {
					return version, nil
				}
				return version, err
			}
		}},
		{name: "a canceled Put answers as the network does", caught: put, plant: func(b *parts) {
			put := b.put
			b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
				yield()
				version, err := put(ctx, docs...)
				if errors.Is(err, context.Canceled) {
					err = errors.New("read: connection reset by peer")
				}
				return version, err
			}
		}},
		{name: "a canceled Issue has stored some tokens", caught: tokens, plant: func(b *parts) {
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
		{name: "a canceled Exchange has spent and stored nothing", caught: tokens, plant: func(b *parts) {
			exchange := b.exchange
			b.exchange = func(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
				if err := exchange(ctx, key, at); err != nil {
					return err
				}
				yield()
				return b.issue(ctx, next...)
			}
		}},
		{name: "a canceled Count has remembered its batch alone", caught: "calls cut short/a Count", plant: func(b *parts) {
			var seen sync.Map
			count := b.count
			b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
				if _, before := seen.LoadOrStore(batch, true); before {
					return nil
				}
				yield()
				return count(ctx, batch, counts)
			}
		}},
		{name: "a canceled Count has counted and forgotten its batch", caught: "calls cut short/a Count",
			plant: func(b *parts) {
				count := b.count
				b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
					if ctx.Done() != nil && ctx.Err() != nil || slices.Contains([]int{2, 3}, int(batch.Seq)) {
						lost := batch
						lost.Node += " lost"
						count(context.WithoutCancel(ctx), lost, counts)
					}
					return count(ctx, batch, counts)
				}
			}},
		{name: "a canceled Revoke has stored some", caught: feeds, plant: func(b *parts) {
			revoke := b.revoke
			b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
				for _, r := range rs {
					if err := revoke(ctx, r); err != nil {
						return err
					}
					yield()
				}
				return nil
			}
		}},
		{name: "a canceled Append has stored some", caught: feeds, plant: func(b *parts) {
			add := b.append
			b.append = func(ctx context.Context, rs ...driver.Record) error {
				for _, r := range rs {
					if err := add(ctx, r); err != nil {
						return err
					}
					yield()
				}
				return nil
			}
		}},
		{name: "a canceled List ends where it was", caught: reads, plant: func(b *parts) {
			list := b.list
			b.list = func(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
				docs, next, err := list(context.WithoutCancel(ctx), kind, span, n)
				yield()
				if ctx.Err() != nil {
					return docs[:len(docs)/2], "", nil
				}
				return docs, next, err
			}
		}},
		{name: "a canceled page of the trail ends where it was", caught: reads, plant: func(b *parts) {
			records := b.records
			b.records = func(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
				page, err := records(context.WithoutCancel(ctx), after, n)
				yield()
				if ctx.Err() != nil {
					return page[:len(page)/2], nil
				}
				return page, err
			}
		}},
		{name: "a canceled page of the feed ends where it was", caught: reads, plant: func(b *parts) {
			revocations := b.revocations
			b.revocations = func(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
				page, err := revocations(context.WithoutCancel(ctx), after, n)
				yield()
				if ctx.Err() != nil {
					return page[:len(page)/2], nil
				}
				return page, err
			}
		}},
		{name: "canceled usage ends where it was", caught: reads, plant: func(b *parts) {
			usage := b.usage
			b.usage = func(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
				rows, err := usage(context.WithoutCancel(ctx), q)
				yield()
				if ctx.Err() != nil {
					return rows[:len(rows)/2], nil
				}
				return rows, err
			}
		}},
		{name: "a canceled Get finds nothing", caught: reads, plant: func(b *parts) {
			get := b.get
			b.get = func(ctx context.Context, kind, id string) (driver.Doc, error) {
				yield()
				d, err := get(ctx, kind, id)
				if errors.Is(err, context.Canceled) {
					err = driver.ErrNotFound
				}
				return d, err
			}
		}},
		{name: "a canceled Token finds nothing", caught: reads, plant: func(b *parts) {
			token := b.token
			b.token = func(ctx context.Context, key driver.Key) (driver.Token, error) {
				yield()
				t, err := token(ctx, key)
				if errors.Is(err, context.Canceled) {
					err = driver.ErrNotFound
				}
				return t, err
			}
		}},
		{name: "a canceled Put takes those beside it along", caught: "calls cut short/a canceled call takes nothing",
			plant: func(b *parts) {
				var canceled atomic.Int64
				put := b.put
				b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
					before := canceled.Load()
					yield()
					if ctx.Err() != nil {
						canceled.Add(1)
					}
					yield()
					if canceled.Load() != before {
						return 0, context.Canceled
					}
					return put(ctx, docs...)
				}
			}},
	}
}
