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

// lagging is a replica: what it answers was true before the last write.
type lagging[T any] struct {
	mu     sync.Mutex
	behind map[string]T
}

// before returns what was read under a name before the last write, if a write came since.
func (l *lagging[T]) before(name string, now T) T {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old, there := l.behind[name]; there {
		delete(l.behind, name)
		return old
	}
	return now
}

func (l *lagging[T]) write(name string, old T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.behind == nil {
		l.behind = map[string]T{}
	}
	l.behind[name] = old
}

type gotDoc struct {
	d   driver.Doc
	err error
}

// staleBugs read from a replica or a cache that does not know the last write yet.
func staleBugs() []bug {
	return []bug{
		{name: "Get reads from a replica", caught: "Put and Get/a replaced document is the new one", plant: getLags},
		{name: "Get does not find what was made a moment ago", caught: "Put and Get/every field of a document",
			plant: getLags},
		{name: "Get shows what was removed a moment ago", caught: "Put and Get/a removed document is gone", plant: getLags},
		{name: "Get remembers that nothing was there", caught: "Put and Get/a removed document is gone",
			plant: remembers(func(g gotDoc) bool { return g.err != nil })},
		{name: "Get remembers a document for ever", caught: "Put and Get/a replaced document is the new one",
			plant: func(b *parts) {
				remembers(func(gotDoc) bool { return true })(b)
				put := b.put
				b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
					version, err := put(ctx, docs...)
					for _, d := range docs {
						b.get(ctx, d.Kind, d.ID)
					}
					return version, err
				}
			}},
		{name: "Token reads from a replica", caught: "Exchange/an exchange spends the token", plant: func(b *parts) {
			var replica lagging[driver.Token]
			token := b.token
			exchanging(b, func(right func(...driver.Token) error, t driver.Token, _ time.Time, next []driver.Token) error {
				replica.write(string(t.Key[:]), t)
				return right(next...)
			})
			b.token = func(ctx context.Context, key driver.Key) (driver.Token, error) {
				t, err := token(ctx, key)
				return replica.before(string(key[:]), t), err
			}
		}},
		{name: "List reads from a replica", caught: "List/a replaced document leaves", plant: func(b *parts) {
			var writes, seen atomic.Int64
			put, list := b.put, b.list
			b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
				writes.Add(1)
				return put(ctx, docs...)
			}
			b.list = func(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
				if now := writes.Load(); seen.Swap(now) != now {
					return nil, "", nil
				}
				return list(ctx, kind, span, n)
			}
		}},
		{name: "the feed is read from a replica", caught: "Revocations/Seq rises in the order", plant: func(b *parts) {
			var fresh atomic.Bool
			revoke, revocations := b.revoke, b.revocations
			b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
				fresh.Store(true)
				return revoke(ctx, rs...)
			}
			b.revocations = func(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
				feed, err := revocations(ctx, after, n)
				if fresh.Swap(false) && len(feed) > 0 {
					feed = feed[:len(feed)-1]
				}
				return feed, err
			}
		}},
		{name: "the trail is read from a replica", caught: "Append and Records/Seq rises in the order",
			plant: func(b *parts) {
				var fresh atomic.Bool
				add, records := b.append, b.records
				b.append = func(ctx context.Context, rs ...driver.Record) error {
					fresh.Store(true)
					return add(ctx, rs...)
				}
				b.records = func(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
					page, err := records(ctx, after, n)
					if fresh.Swap(false) && len(page) > 0 {
						page = page[:len(page)-1]
					}
					return page, err
				}
			}},
		{name: "usage is read from a replica", caught: "Count/batches add up", plant: func(b *parts) {
			var before []driver.Count
			count, usage := b.count, b.usage
			b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
				before, _ = usage(ctx, driver.UsageQuery{AppID: "app", To: time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)})
				return count(ctx, batch, counts)
			}
			b.usage = func(context.Context, driver.UsageQuery) ([]driver.Count, error) { return slices.Clone(before), nil }
		}},
		{name: "Exchange looks for revocations on a replica", caught: "Revoke/a grant's revocation ends its tokens",
			plant: func(b *parts) {
				var old, replica []driver.Revocation
				revoke := b.revoke
				b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
					replica = old
					old, _ = b.revocations(ctx, 0, driver.Page)
					return revoke(ctx, rs...)
				}
				exchanging(b, func(right func(...driver.Token) error, t driver.Token, _ time.Time, next []driver.Token) error {
					err := right(next...)
					if errors.Is(err, driver.ErrRevoked) && !slices.ContainsFunc(replica,
						func(r driver.Revocation) bool { return r.Covers(t) }) {
						return nil
					}
					return err
				})
			}},
		{name: "Appended is read from a replica", caught: "Prune/Appended is 0", plant: func(b *parts) {
			var before atomic.Uint64
			appended := b.appended
			b.appended = func(ctx context.Context) (uint64, error) {
				last, err := appended(ctx)
				return before.Swap(last), err
			}
		}},
	}
}

func getLags(b *parts) {
	var replica lagging[gotDoc]
	put, get := b.put, b.get
	b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
		for _, d := range docs {
			old, err := get(ctx, d.Kind, d.ID)
			replica.write(d.Kind+"/"+d.ID, gotDoc{old, err})
		}
		return put(ctx, docs...)
	}
	b.get = func(ctx context.Context, kind, id string) (driver.Doc, error) {
		d, err := get(ctx, kind, id)
		g := replica.before(kind+"/"+id, gotDoc{d, err})
		return g.d, g.err
	}
}

// remembers answers from a cache that no write empties.
func remembers(keeps func(gotDoc) bool) func(*parts) {
	return func(b *parts) {
		var cache sync.Map
		get := b.get
		b.get = func(ctx context.Context, kind, id string) (driver.Doc, error) {
			if g, there := cache.Load(kind + "/" + id); there {
				return g.(gotDoc).d, g.(gotDoc).err
			}
			d, err := get(ctx, kind, id)
			if keeps(gotDoc{d, err}) {
				cache.Store(kind+"/"+id, gotDoc{d, err})
			}
			return d, err
		}
	}
}
