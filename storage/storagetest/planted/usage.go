package planted

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// counted changes a batch on its way in.
func counted(change func(*driver.Batch, []driver.Count) []driver.Count) func(*parts) {
	return func(b *parts) {
		count := b.count
		b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
			counts = change(&batch, slices.Clone(counts))
			return count(ctx, batch, counts)
		}
	}
}

func eachCount(change func(*driver.Count)) func(*parts) {
	return counted(func(_ *driver.Batch, counts []driver.Count) []driver.Count {
		for i := range counts {
			change(&counts[i])
		}
		return counts
	})
}

func countBugs() []bug {
	var sent atomic.Uint64
	return []bug{
		{name: "Count ignores the batch", caught: "Count/a batch seen before",
			plant: counted(func(b *driver.Batch, counts []driver.Count) []driver.Count {
				b.Seq = sent.Add(1)
				return counts
			})},
		{name: "Count knows single batches, not the highest", caught: "Count/a batch below the highest",
			plant: counted(func(b *driver.Batch, counts []driver.Count) []driver.Count {
				b.Node = fmt.Sprint(b.Node, b.Seq)
				return counts
			})},
		{name: "Count knows one node", caught: "Count/nodes number their batches independently",
			plant: counted(func(b *driver.Batch, counts []driver.Count) []driver.Count {
				b.Node = "node"
				return counts
			})},
		{name: "Count compares nodes without case", caught: "Count/nodes number their batches independently",
			plant: counted(func(b *driver.Batch, counts []driver.Count) []driver.Count {
				b.Node = strings.ToLower(b.Node)
				return counts
			})},
		{name: "Count reads, then writes", caught: "Count/16 nodes that count at once", plant: losesAtOnce},
		{name: "Count looks at the batch first and marks it later", caught: "Count/one batch sent 16 times at once",
			plant: marksBatchLate},
	}
}

func rowBugs() []bug {
	return []bug{
		{name: "Count takes the last of two counts of one row", caught: "Count/batches add up", plant: counted(lastOfRow)},
		{name: "Count forgets errors", caught: "Count/batches add up",
			plant: eachCount(func(c *driver.Count) { c.Errors = 0 })},
		{name: "Count sets instead of adding", caught: "Count/batches add up",
			plant: rowsOut(func(rows []driver.Count) []driver.Count {
				for i := range rows {
					rows[i].Calls = min(rows[i].Calls, 80)
				}
				return rows
			})},
		{name: "Count forgets the rows by day", caught: "Count/a count adds to the row of its UTC hour and",
			plant: func(b *parts) {
				usage := b.usage
				b.usage = func(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
					if q.Daily {
						return nil, nil
					}
					return usage(ctx, q)
				}
			}},
		{name: "Count reads the hour off the caller's clock", caught: "Count/a count adds to the row of its UTC hour and",
			plant: eachCount(func(c *driver.Count) {
				_, off := c.At.Zone()
				c.At = c.At.Add(time.Duration(off) * time.Second)
			})},
		{name: "sums run over", caught: "numbers/sums stop at the largest number within",
			plant: rowsOut(func(rows []driver.Count) []driver.Count {
				for i, c := range rows {
					if c.Errors == math.MaxInt64 {
						rows[i].Errors = -2
					}
				}
				return rows
			})},
		{name: "applications are compared without case", caught: "Usage/applications do not mix",
			plant: eachCount(func(c *driver.Count) { c.AppID = strings.ToLower(c.AppID) })},
	}
}

func losesAtOnce(b *parts) {
	var busy atomic.Int32
	count := b.count
	b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
		defer busy.Add(-1)
		if busy.Add(1) > 1 {
			return nil
		}
		yield()
		return count(ctx, batch, counts)
	}
}

func marksBatchLate(b *parts) {
	var seen, sent atomic.Uint64
	count := b.count
	b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
		if seen.Load() >= batch.Seq {
			return nil
		}
		yield()
		defer seen.Store(batch.Seq)
		batch.Seq = sent.Add(1)
		return count(ctx, batch, counts)
	}
}

// lastOfRow is an upsert that meets a row twice in one statement.
func lastOfRow(_ *driver.Batch, counts []driver.Count) []driver.Count {
	slices.Reverse(counts)
	seen := map[string]bool{}
	return slices.DeleteFunc(counts, func(c driver.Count) bool {
		row := fmt.Sprint(c.Product, driver.Hour(c.At))
		again := seen[row]
		seen[row] = true
		return again
	})
}

// rowsOut changes usage rows on their way out.
func rowsOut(change func([]driver.Count) []driver.Count) func(*parts) {
	return func(b *parts) {
		usage := b.usage
		b.usage = func(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
			rows, err := usage(ctx, q)
			return change(rows), err
		}
	}
}

func queriedHour(change func(*driver.UsageQuery)) func(*parts) {
	return func(b *parts) {
		usage := b.usage
		b.usage = func(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
			change(&q)
			return usage(ctx, q)
		}
	}
}

func usageBugs() []bug {
	return []bug{
		{name: "Usage counts To in", caught: "Usage/from counts, to does not",
			plant: queriedHour(func(q *driver.UsageQuery) { q.To = q.To.Add(1) })},
		{name: "Usage leaves From out", caught: "Usage/from counts, to does not",
			plant: queriedHour(func(q *driver.UsageQuery) { q.From = q.From.Add(1) })},
		{name: "Usage rounds From down to its hour", caught: "Usage/from counts, to does not",
			plant: queriedHour(func(q *driver.UsageQuery) { q.From = driver.Hour(q.From) })},
		{name: "Usage takes a zero From for the zero row", caught: "Usage/from counts, to does not",
			plant: queriedHour(func(q *driver.UsageQuery) {
				if q.From.IsZero() {
					q.From = q.To
				}
			})},
		{name: "Usage is in the order of products", caught: "Usage/rows come by time",
			plant: rowsOut(func(rows []driver.Count) []driver.Count {
				slices.SortStableFunc(rows, func(a, b driver.Count) int { return cmp.Compare(a.Product, b.Product) })
				return rows
			})},
		{name: "Usage matches products by prefix", caught: "Usage/a question may ask for one product", plant: func(b *parts) {
			usage := b.usage
			b.usage = func(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
				product := q.Product
				q.Product = ""
				rows, err := usage(ctx, q)
				return slices.DeleteFunc(rows, func(c driver.Count) bool { return !strings.HasPrefix(c.Product, product) }), err
			}
		}},
	}
}
