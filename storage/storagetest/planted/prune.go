package planted

import (
	"context"
	"math"

	"github.com/keystile/keystile/storage/driver"
)

func pruneCalled(edit func(through uint64, n int) (uint64, int)) func(*parts) {
	return func(b *parts) {
		prune := b.prune
		b.prune = func(ctx context.Context, through uint64, n int) (int, error) {
			through, n = edit(through, n)
			return prune(ctx, through, n)
		}
	}
}

func pruneBugs() []bug {
	const oldest, about = "Prune/the oldest records go", "Prune/about n go"
	return []bug{
		{name: "Prune keeps the record at through", caught: oldest,
			plant: pruneCalled(func(through uint64, n int) (uint64, int) { return max(through, 1) - 1, n })},
		{name: "Prune takes the record behind through", caught: oldest,
			plant: pruneCalled(func(through uint64, n int) (uint64, int) { return through + 1, n })},
		{name: "Prune takes all", caught: oldest,
			plant: pruneCalled(func(_ uint64, n int) (uint64, int) { return math.MaxInt64, n })},
		{name: "Prune ignores n", caught: about,
			plant: pruneCalled(func(through uint64, _ int) (uint64, int) { return through, driver.Page })},
		{name: "Prune says that nothing is left while something is", caught: about, plant: func(b *parts) {
			prune := b.prune
			b.prune = func(ctx context.Context, through uint64, n int) (int, error) {
				removed, err := prune(ctx, through, n)
				return max(removed, 1) - 1, err
			}
		}},
		{name: "a Seq is given again behind a Prune", caught: "Prune/a Seq is not given again", plant: func(b *parts) {
			var taken uint64
			prune, records, appended := b.prune, b.records, b.appended
			b.prune = func(ctx context.Context, through uint64, n int) (int, error) {
				removed, err := prune(ctx, through, n)
				taken += uint64(removed)
				return removed, err
			}
			b.records = func(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
				page, err := records(ctx, after+taken, n)
				for i := range page {
					page[i].Seq -= taken
				}
				return page, err
			}
			b.appended = appended
		}},
		{name: "Appended counts what is left", caught: "Prune/Appended is 0", plant: func(b *parts) {
			b.appended = func(ctx context.Context) (uint64, error) {
				page, err := b.records(ctx, 0, driver.Page)
				return uint64(len(page)), err
			}
		}},
	}
}
