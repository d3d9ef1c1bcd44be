package planted

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func swept(edit func(at time.Time, n int) (time.Time, int)) func(*parts) {
	return func(b *parts) {
		sweep := b.sweep
		b.sweep = func(ctx context.Context, at time.Time, n int) (int, error) {
			at, n = edit(at, n)
			return sweep(ctx, at, n)
		}
	}
}

func sweepBugs() []bug {
	const exactly = "Sweep/tokens, revocations and documents that ended by then go"
	return []bug{
		{name: "Sweep removes what ends after at", caught: exactly,
			plant: swept(func(at time.Time, n int) (time.Time, int) { return at.Add(1), n })},
		{name: "Sweep keeps what ends at at", caught: exactly,
			plant: swept(func(at time.Time, n int) (time.Time, int) { return at.Add(-1), n })},
		{name: "Sweep compares by the second", caught: exactly,
			plant: swept(func(at time.Time, n int) (time.Time, int) { return at.Truncate(time.Second), n })},
		{name: "Sweep takes no end for the beginning of time", caught: exactly, plant: func(b *parts) {
			issue := b.issue
			b.issue = func(ctx context.Context, tokens ...driver.Token) error {
				for i, t := range tokens {
					if t.ExpiresAt.IsZero() {
						tokens[i].ExpiresAt = time.Unix(0, 0)
					}
				}
				return issue(ctx, tokens...)
			}
		}},
		{name: "Sweep overflows in the year 2262", caught: exactly, plant: func(b *parts) {
			put := b.put
			b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
				for i, d := range docs {
					if d.ExpiresAt.Year() > 2262 {
						docs[i].ExpiresAt = time.Unix(0, d.ExpiresAt.UnixNano())
					}
				}
				return put(ctx, docs...)
			}
		}},
	}
}

func sweptBugs() []bug {
	const about = "Sweep/a sweep removes about n"
	return []bug{
		{name: "Sweep ignores n", caught: about,
			plant: swept(func(at time.Time, _ int) (time.Time, int) { return at, 1 << 30 })},
		{name: "Sweep does not say how many", caught: about, plant: func(b *parts) {
			sweep := b.sweep
			b.sweep = func(ctx context.Context, at time.Time, n int) (int, error) {
				_, err := sweep(ctx, at, n)
				return 0, err
			}
		}},
		{name: "Sweep forgets revocations", caught: "Sweep/a swept revocation leaves the feed", plant: func(b *parts) {
			revoke := b.revoke
			b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
				for i := range rs {
					rs[i].Until = time.Time{}
				}
				return revoke(ctx, rs...)
			}
		}},
		{name: "Sweep spares spent tokens", caught: "Sweep/spent tokens go like others", plant: keepsSpent},
		{name: "a swept revocation ends tokens still", caught: "Sweep/a swept revocation leaves the feed",
			plant: func(b *parts) {
				ended := map[string]bool{}
				revoke := b.revoke
				b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
					for _, r := range rs {
						ended[r.ID] = true
					}
					return revoke(ctx, rs...)
				}
				exchanging(b, func(right func(...driver.Token) error, t driver.Token, _ time.Time, next []driver.Token) error {
					if ended[t.Grant] {
						return driver.ErrRevoked
					}
					return right(next...)
				})
			}},
		{name: "the key of a swept token stays taken", caught: "Sweep/the key of a swept token", plant: func(b *parts) {
			var taken sync.Map
			issue := b.issue
			b.issue = func(ctx context.Context, tokens ...driver.Token) error {
				if slices.ContainsFunc(tokens,
					func(t driver.Token) bool { _, there := taken.LoadOrStore(t.Key, true); return there }) {
					return driver.ErrExists
				}
				return issue(ctx, tokens...)
			}
		}},
	}
}

func keepsSpent(b *parts) {
	spent := map[driver.Key]driver.Token{}
	token := b.token
	exchanging(b, func(right func(...driver.Token) error, t driver.Token, at time.Time, next []driver.Token) error {
		t.SpentAt = at
		spent[t.Key] = t
		return right(next...)
	})
	b.token = func(ctx context.Context, key driver.Key) (driver.Token, error) {
		if t, there := spent[key]; there {
			return t, nil
		}
		return token(ctx, key)
	}
}

func endBugs() []bug {
	return []bug{
		{name: "Sweep goes by a document's first end", caught: "Sweep keeps/a document whose end was moved on",
			plant: firstEnd},
		{name: "Sweep goes by an end that was taken off", caught: "Sweep keeps/a document whose end was taken off",
			plant: firstEnd},
		{name: "Sweep goes by the end of an earlier document",
			caught: "Sweep keeps/a document that was removed and made again", plant: firstEnd},
		{name: "Sweep does not see an end that was moved back",
			caught: "Sweep keeps/but not a document whose end was moved back", plant: putting(
				func(ctx context.Context, b *parts, right func(...driver.Doc) (int64, error), docs []driver.Doc) (int64, error) {
					for i, d := range docs {
						if old, _ := b.get(ctx, d.Kind, d.ID); old.ExpiresAt.After(d.ExpiresAt) {
							docs[i].ExpiresAt = old.ExpiresAt
						}
					}
					return right(docs...)
				})},
		{name: "Sweep goes by a revocation's last Until", caught: "Sweep keeps/a revocation that was joined by a later one",
			plant: lastUntil},
		{name: "an Until ends a revocation that has none", caught: "Sweep keeps/a revocation without an end",
			plant: lastUntil},
		{name: "Sweep keeps the rows of hours", caught: "Sweep/usage rows of hours that began", plant: func(b *parts) {
			sweep, usage := b.sweep, b.usage
			var kept []driver.Count
			b.usage = func(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
				rows, err := usage(ctx, q)
				if !q.Daily && len(rows) < len(kept) {
					rows = kept
				}
				return rows, err
			}
			b.sweep = func(ctx context.Context, at time.Time, n int) (int, error) {
				kept, _ = usage(ctx, driver.UsageQuery{AppID: "app", To: at})
				return sweep(ctx, at, n)
			}
		}},
		{name: "Sweep takes the rows of days along", caught: "Sweep/usage rows of hours that began", plant: func(b *parts) {
			sweep, usage := b.sweep, b.usage
			var swept time.Time
			b.sweep = func(ctx context.Context, at time.Time, n int) (int, error) {
				swept = at.Add(-driver.UsageHours)
				return sweep(ctx, at, n)
			}
			b.usage = func(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
				if q.From.Before(swept) {
					q.From = swept
				}
				return usage(ctx, q)
			}
		}},
		{name: "the row of an hour ends with the day", caught: "Sweep/usage rows of hours that began", plant: func(b *parts) {
			sweep := b.sweep
			b.sweep = func(ctx context.Context, at time.Time, n int) (int, error) { return sweep(ctx, driver.Day(at), n) }
		}},
		{name: "Sweep takes all hours at once", caught: "Sweep/hours of many applications go about n", plant: func(b *parts) {
			sweep := b.sweep
			b.sweep = func(ctx context.Context, at time.Time, _ int) (int, error) { return sweep(ctx, at, 1<<30) }
		}},
		{name: "Sweep takes the audit trail along", caught: "Sweep keeps/audit and usage", plant: func(b *parts) {
			gone := uint64(0)
			sweep, records := b.sweep, b.records
			b.sweep = func(ctx context.Context, at time.Time, n int) (int, error) {
				gone = 1 << 40
				return sweep(ctx, at, n)
			}
			b.records = func(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
				return records(ctx, max(after, gone), n)
			}
		}},
	}
}

// firstEnd finds documents by the end they had when they were first put.
func firstEnd(b *parts) {
	ends := map[string]time.Time{}
	put, sweep := b.put, b.sweep
	b.put = func(ctx context.Context, docs ...driver.Doc) (int64, error) {
		for _, d := range docs {
			if ends[d.ID].IsZero() {
				ends[d.ID] = d.ExpiresAt
			}
		}
		return put(ctx, docs...)
	}
	b.sweep = func(ctx context.Context, at time.Time, n int) (int, error) {
		early := 0
		for id, end := range ends {
			if d, err := b.get(ctx, "thing", id); err == nil && !end.After(at) {
				d.Deleted = true
				put(ctx, d)
				early++
			}
		}
		removed, err := sweep(ctx, at, n)
		return removed + early, err
	}
}

// lastUntil forgets a revocation by the Until of its last call.
func lastUntil(b *parts) {
	until, forgotten := time.Time{}, 0
	revoke, revocations, sweep := b.revoke, b.revocations, b.sweep
	b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
		until = rs[len(rs)-1].Until
		return revoke(ctx, rs...)
	}
	b.sweep = func(ctx context.Context, at time.Time, n int) (int, error) {
		if !until.After(at) {
			forgotten = 1
		}
		removed, err := sweep(ctx, at, n)
		return max(removed, forgotten), err
	}
	b.revocations = func(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
		feed, err := revocations(ctx, after, n)
		return feed[min(forgotten, len(feed)):], err
	}
}
