package planted

import (
	"context"
	"slices"
	"sync"

	"github.com/keystile/keystile/storage/driver"
)

func trailRead(edit func(after uint64, n int) (uint64, int)) func(*parts) {
	return func(b *parts) {
		records := b.records
		b.records = func(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
			after, n = edit(after, n)
			return records(ctx, after, n)
		}
	}
}

func auditBugs() []bug {
	const page = "Append and Records/a page holds up to n"
	return []bug{
		{name: "the trail repeats the record at after", caught: page,
			plant: trailRead(func(after uint64, n int) (uint64, int) { return max(after, 1) - 1, n })},
		{name: "the trail skips the record behind after", caught: page,
			plant: trailRead(func(after uint64, n int) (uint64, int) { return after + min(after, 1), n })},
		{name: "the trail ignores n", caught: page,
			plant: trailRead(func(after uint64, _ int) (uint64, int) { return after, driver.Page })},
		{name: "Append turns the order of a call round", caught: "Append and Records/Seq rises", plant: func(b *parts) {
			add := b.append
			b.append = func(ctx context.Context, records ...driver.Record) error {
				slices.Reverse(records)
				return add(ctx, records...)
			}
		}},
		{name: "the trail is in the order of its times", caught: "Append and Records/every field",
			plant: trailOut(func(page []driver.Record) {
				slices.SortFunc(page, func(a, b driver.Record) int { return a.At.Compare(b.At) })
			})},
		{name: "a record's Data is text", caught: "Append and Records/every field",
			plant: trailOut(func(page []driver.Record) {
				for i, r := range page {
					page[i].Data = []byte(string([]rune(string(r.Data))))
				}
			})},
		{name: "the trail shows a Seq before a lower one", caught: "Append and Records/the reader who follows",
			plant: commitsRecordsLate},
	}
}

func trailOut(change func([]driver.Record)) func(*parts) {
	return func(b *parts) {
		records := b.records
		b.records = func(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
			page, err := records(ctx, after, n)
			change(page)
			return page, err
		}
	}
}

// commitsRecordsLate is commitsLate for the trail.
func commitsRecordsLate(b *parts) {
	var open sync.Map
	var readers looks
	add, records := b.append, b.records
	b.append = func(ctx context.Context, rs ...driver.Record) error {
		for _, r := range rs {
			open.Store(string(r.Data), true)
			defer open.Delete(string(r.Data))
		}
		defer readers.awaitOne()
		return add(ctx, rs...)
	}
	b.records = func(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
		defer readers.one()
		page, err := records(ctx, after, n)
		return slices.DeleteFunc(page, func(r driver.Record) bool {
			_, hidden := open.Load(string(r.Data))
			return hidden
		}), err
	}
}
