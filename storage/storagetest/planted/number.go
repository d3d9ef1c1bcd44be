package planted

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage/driver"
)

var errRange = errors.New("value out of range for type bigint")

// refusesAbove fails on a number that 63 bits do not hold.
func refusesAbove(n uint64) error {
	if n > math.MaxInt64 {
		return errRange
	}
	return nil
}

// numberBugs keep numbers in types that do not hold them all.
func numberBugs() []bug {
	const behind, batch, page = "numbers/a reader may ask for what is behind", "numbers/a batch may have the number",
		"numbers/a page holds 1,000"
	wraps := func(after uint64, n int) (uint64, int) {
		if int64(after) < 0 {
			after = 0 // seq > -1
		}
		return after, n
	}
	narrow := func(after uint64, n int) (uint64, int) {
		if after > math.MaxInt64 {
			after = uint64(uint32(after + 2))
		}
		return after, n
	}
	capped := func(after uint64, n int) (uint64, int) { return after, min(n, 100) }
	batches := func(change func(seq uint64) uint64) func(*parts) {
		return counted(func(b *driver.Batch, counts []driver.Count) []driver.Count {
			b.Seq = change(b.Seq)
			return counts
		})
	}
	return []bug{
		{name: "behind a large number the trail begins again", caught: behind, plant: trailRead(wraps)},
		{name: "behind a large number the feed begins again", caught: behind, plant: feedRead(wraps)},
		{name: "the trail reads 32 bits of a large number", caught: behind, plant: trailRead(narrow)},
		{name: "the feed reads 32 bits of a large number", caught: behind, plant: feedRead(narrow)},
		{name: "the trail refuses a large number", caught: behind, plant: func(b *parts) {
			records := b.records
			b.records = func(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
				page, err := records(ctx, after, n)
				return page, errors.Join(err, refusesAbove(after))
			}
		}},
		{name: "the feed refuses a large number", caught: behind, plant: func(b *parts) {
			revocations := b.revocations
			b.revocations = func(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
				feed, err := revocations(ctx, after, n)
				return feed, errors.Join(err, refusesAbove(after))
			}
		}},
		{name: "Prune through a large number removes nothing", caught: "numbers/Prune may go through",
			plant: pruneCalled(func(through uint64, n int) (uint64, int) {
				return uint64(max(0, int64(through))), n
			})},
		{name: "Prune refuses a large number", caught: "numbers/Prune may go through", plant: func(b *parts) {
			prune := b.prune
			b.prune = func(ctx context.Context, through uint64, n int) (int, error) {
				removed, err := prune(ctx, through, n)
				return removed, errors.Join(err, refusesAbove(through))
			}
		}},
		{name: "batches are numbered in 32 bits", caught: batch,
			plant: batches(func(seq uint64) uint64 { return seq & math.MaxUint32 })},
		{name: "batches are numbered in floating point", caught: batch, plant: batches(func(seq uint64) uint64 {
			if seq > 1<<53 {
				return 1 << 53
			}
			return seq
		})},
		{name: "the number of a batch is text", caught: batch, plant: func(b *parts) {
			highest, count := map[string]string{}, b.count
			b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
				if text := fmt.Sprint(batch.Seq); text > highest[batch.Node] {
					highest[batch.Node] = text
					return count(ctx, batch, counts)
				}
				return nil
			}
		}},
		{name: "a page of the trail holds at most 100", caught: page, plant: trailRead(capped)},
		{name: "a page of documents holds at most 500", caught: page, plant: func(b *parts) {
			list := b.list
			b.list = func(ctx context.Context, kind string, span driver.Span, n int) ([]driver.Doc, string, error) {
				return list(ctx, kind, span, min(n, 500))
			}
		}},
		{name: "Append takes no more than 1,000", caught: page, plant: func(b *parts) {
			add := b.append
			b.append = func(ctx context.Context, records ...driver.Record) error {
				return add(ctx, records[:min(len(records), 1000)]...)
			}
		}},
		{name: "a version is read as 32 bits", caught: "numbers/no document has the version",
			plant: foldDocs(func(d *driver.Doc) {
				if d.Version == math.MaxInt64 {
					d.Version = 1
				}
			})},
		{name: "the feed counts from 0", caught: "numbers/the numbers that a Backend gives",
			plant: feedOut(func(feed []driver.Revocation) []driver.Revocation {
				for i := range feed {
					feed[i].Seq--
				}
				return feed
			})},
		{name: "Seqs of the trail have the highest bit set", caught: "numbers/the numbers that a Backend gives",
			plant: trailOut(func(page []driver.Record) {
				for i := range page {
					page[i].Seq |= 1 << 63
				}
			})},
	}
}

// sumBugs add up in types that end.
func sumBugs() []bug {
	const one, many = "numbers/sums stop at the largest number within", "numbers/sums stop at the largest number from"
	each := func(change func(c *driver.Count)) func(*parts) {
		return rowsOut(func(rows []driver.Count) []driver.Count {
			for i := range rows {
				change(&rows[i])
			}
			return rows
		})
	}
	fails := func(b *parts) {
		count, sum := b.count, map[string]driver.Count{}
		b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
			for _, c := range counts {
				old := sum[c.Product]
				if old.Calls > math.MaxInt64-c.Calls || old.Errors > math.MaxInt64-c.Errors {
					return errRange
				}
				sum[c.Product] = old.Plus(c)
			}
			return count(ctx, batch, counts)
		}
	}
	overflows := func(b *parts) { // what the database adds runs over, what the adapter adds does not
		count, usage, batches := b.count, b.usage, 0
		b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
			batches++
			return count(ctx, batch, counts)
		}
		b.usage = func(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
			rows, err := usage(ctx, q)
			for i, c := range rows {
				if batches > 1 && c.Calls == math.MaxInt64 {
					rows[i].Calls = math.MinInt64 + 1
				}
			}
			return rows, err
		}
	}
	return []bug{
		{name: "a sum that is too large fails within a batch", caught: one, plant: fails},
		{name: "a sum that is too large fails from batch to batch", caught: many, plant: fails},
		{name: "sums of calls run over", caught: one, plant: each(func(c *driver.Count) {
			if c.Calls == math.MaxInt64 {
				c.Calls = -2
			}
		})},
		{name: "sums run over in the database", caught: many, plant: overflows},
		{name: "sums stop at 32 bits", caught: one,
			plant: each(func(c *driver.Count) { c.Calls = min(c.Calls, math.MaxInt32) })},
		{name: "sums are floating point", caught: many, plant: each(func(c *driver.Count) {
			if c.Errors < math.MaxInt64 {
				c.Errors = int64(float64(c.Errors/2)) * 2
			}
		})},
		{name: "a sum that is too large stops the others of its batch", caught: one,
			plant: counted(func(_ *driver.Batch, counts []driver.Count) []driver.Count {
				if slices.ContainsFunc(counts, func(c driver.Count) bool { return c.Calls == math.MaxInt64 }) {
					counts = slices.DeleteFunc(counts, func(c driver.Count) bool { return c.Product == "other" })
				}
				return counts
			})},
		{name: "errors stop where calls do", caught: many, plant: each(func(c *driver.Count) {
			if c.Calls == math.MaxInt64 {
				c.Errors = c.Calls
			}
		})},
		{name: "sums of days run over", caught: many, plant: func(b *parts) {
			usage := b.usage
			b.usage = func(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
				rows, err := usage(ctx, q)
				for i := range rows {
					if q.Daily && rows[i].Errors == math.MaxInt64 {
						rows[i].Errors = 0
					}
				}
				return rows, err
			}
		}},
		{name: "an upsert adds the calls and forgets the errors", caught: "Count/batches add up",
			plant: each(func(c *driver.Count) { c.Errors = min(c.Errors, 5) })},
		{name: "an upsert does nothing where a row is", caught: "Count/batches add up", plant: func(b *parts) {
			count, there := b.count, map[string]bool{}
			b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
				counts = slices.DeleteFunc(slices.Clone(counts), func(c driver.Count) bool {
					defer func() { there[c.Product] = true }()
					return there[c.Product]
				})
				return count(ctx, batch, counts)
			}
		}},
		{name: "two counts of one row in a batch fail", caught: "Count/batches add up", plant: func(b *parts) {
			count := b.count
			b.count = func(ctx context.Context, batch driver.Batch, counts []driver.Count) error {
				seen := map[string]bool{}
				for _, c := range counts {
					row := strings.Join([]string{c.AppID, c.Product, driver.Hour(c.At).String()}, "/")
					if seen[row] {
						return errTwice
					}
					seen[row] = true
				}
				return count(ctx, batch, counts)
			}
		}},
	}
}

var errTwice = errors.New("ON CONFLICT DO UPDATE command cannot affect row a second time")
