package planted

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/keystile/keystile/storage/driver"
)

func closeBugs() []bug {
	const amid, after = "Close/of 60 times", "Close/after Close every call fails"
	return []bug{
		{name: "a caller who waits is never answered", caught: amid, forever: true, plant: func(b *parts) {
			add := b.append
			b.append = func(ctx context.Context, records ...driver.Record) error {
				err := add(ctx, records...)
				if err != nil {
					<-b.over // its writer has gone
				}
				return err
			}
		}},
		{name: "Append answers nil after Close", caught: amid, plant: lateAppend},
		{name: "Append fills a buffer nobody empties", caught: after, plant: lateAppend},
		{name: "after Close there is nothing", caught: after, plant: func(b *parts) {
			get := b.get
			b.get = func(ctx context.Context, kind, id string) (driver.Doc, error) {
				d, err := get(ctx, kind, id)
				if err != nil {
					err = driver.ErrNotFound
				}
				return d, err
			}
		}},
		{name: "Close fails", caught: "Close/after Close every call fails", plant: func(b *parts) {
			b.close = func() error { return context.Canceled }
		}},
	}
}

func lateAppend(b *parts) {
	add := b.append
	b.append = func(ctx context.Context, records ...driver.Record) error {
		add(ctx, records...)
		return nil
	}
}

// losing leaves calls of a method out when the Backend is opened again.
func losing(method string) func([]call) []call {
	return func(kept []call) []call {
		return slices.DeleteFunc(kept, func(c call) bool { return c.method == method })
	}
}

func durableBugs() []bug {
	const everything, numbers = "reopening/every answered write is there", "reopening/versions and Seq rise on"
	return []bug{
		{name: "Close loses the last write", caught: everything,
			reopen: func(kept []call) []call { return kept[:max(0, len(kept)-1)] }},
		{name: "writes beside Close are answered and lost", caught: "reopening/of 50 times", plant: func(b *parts) {
			var last atomic.Bool
			put, end := b.put, b.close
			b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
				if last.Load() {
					return 1, nil
				}
				return put(ctx, docs...)
			}
			b.close = func() error {
				last.Store(true)
				yield()
				defer last.Store(false)
				return end()
			}
		}},
		{name: "that a token is spent is in memory only", caught: everything, reopen: losing("Exchange")},
		{name: "revocations are in memory only", caught: everything, reopen: losing("Revoke")},
		{name: "usage is in memory only", caught: everything, reopen: losing("Count")},
		{name: "audit is in memory only", caught: everything, reopen: losing("Append")},
		{name: "the index is in memory only", caught: everything, reopen: func(kept []call) []call {
			for i, c := range kept {
				kept[i].again = func(ctx context.Context, b *parts) error {
					blind := *b
					blind.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
						docs = slices.Clone(docs)
						for i := range docs {
							docs[i].Index = nil
						}
						return b.put(ctx, docs...)
					}
					return c.again(ctx, &blind)
				}
			}
			return kept
		}},
		{name: "what was swept comes back", caught: "reopening/what was removed or swept stays away",
			reopen: losing("Sweep")},
		{name: "what was pruned comes back", caught: "reopening/what was removed or swept stays away",
			reopen: losing("Prune")},
		{name: "versions begin again", caught: numbers, reopen: losing("Put")},
		{name: "the Seq of revocations begin again", caught: numbers, reopen: losing("Revoke")},
		{name: "the Seq of records begin again", caught: numbers, reopen: losing("Append")},
		{name: "batches are remembered in memory only", caught: "reopening/a batch that was counted is not counted again",
			reopen: renamesNodes},
	}
}

// renamesNodes keeps what was counted and forgets whose batch it was.
func renamesNodes(kept []call) []call {
	for i, c := range kept {
		kept[i].again = func(ctx context.Context, b *parts) error {
			forgetful := *b
			forgetful.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
				batch.Node += " of an earlier life"
				return b.count(ctx, batch, counts)
			}
			return c.again(ctx, &forgetful)
		}
	}
	return kept
}
