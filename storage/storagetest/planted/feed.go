package planted

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/keystile/keystile/storage/driver"
)

// feedOut changes pages of revocations on their way out.
func feedOut(change func([]driver.Revocation) []driver.Revocation) func(*parts) {
	return func(b *parts) {
		revocations := b.revocations
		b.revocations = func(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
			feed, err := revocations(ctx, after, n)
			return change(feed), err
		}
	}
}

func feedRead(edit func(after uint64, n int) (uint64, int)) func(*parts) {
	return func(b *parts) {
		revocations := b.revocations
		b.revocations = func(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
			after, n = edit(after, n)
			return revocations(ctx, after, n)
		}
	}
}

func feedBugs() []bug {
	const page = "Revocations/a page holds up to n"
	return []bug{
		{name: "two revocations have one Seq", caught: "Revocations/Seq rises in the order",
			plant: feedOut(func(feed []driver.Revocation) []driver.Revocation {
				for i := range feed {
					feed[i].Seq |= 1
				}
				return feed
			})},
		{name: "the feed is in the order of the ids", caught: "Revocations/Seq rises in the order",
			plant: feedOut(func(feed []driver.Revocation) []driver.Revocation {
				slices.SortFunc(feed, func(a, b driver.Revocation) int { return cmp.Compare(a.ID, b.ID) })
				return feed
			})},
		{name: "the feed drops its nanoseconds", caught: "Revocations/every field",
			plant: feedOut(func(feed []driver.Revocation) []driver.Revocation {
				for i, r := range feed {
					feed[i].Before = r.Before.Truncate(1000)
				}
				return feed
			})},
		{name: "the feed repeats the revocation at after", caught: page,
			plant: feedRead(func(after uint64, n int) (uint64, int) { return max(after, 1) - 1, n })},
		{name: "the feed skips the revocation behind after", caught: page,
			plant: feedRead(func(after uint64, n int) (uint64, int) { return after + min(after, 1), n })},
		{name: "the feed ignores n", caught: page,
			plant: feedRead(func(after uint64, _ int) (uint64, int) { return after, driver.Page })},
		{name: "the feed holds one less than n", caught: page,
			plant: feedRead(func(after uint64, n int) (uint64, int) { return after, n - 1 })},
		{name: "the feed shows a Seq before a lower one", caught: "Revocations/the reader who follows", plant: commitsLate},
		{name: "a joined revocation keeps its old Seq", caught: "Revocations/a joined revocation leaves its old Seq",
			plant: keepsSeq},
		{name: "a joined revocation stands twice in the feed", caught: "Revocations/a joined revocation leaves its old Seq",
			plant: staysTwice},
		{name: "revocations of one call do not join", caught: "Revocations/revocations of one call join", plant: staysTwice},
		{name: "ids of revocations are compared without case", caught: "Revocations/revocations that differ in kind or id",
			plant: func(b *parts) {
				revoke := b.revoke
				b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
					for i, r := range rs {
						rs[i].ID = strings.ToLower(r.ID)
					}
					return revoke(ctx, rs...)
				}
			}},
	}
}

// commitsLate hides a revocation for a moment after its Seq was taken, as a database does
// whose sequence runs ahead of its transactions.
func commitsLate(b *parts) {
	var open sync.Map
	var readers looks
	revoke, revocations := b.revoke, b.revocations
	b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
		for _, r := range rs {
			open.Store(r.ID, true)
			defer open.Delete(r.ID)
		}
		defer readers.awaitOne()
		return revoke(ctx, rs...)
	}
	b.revocations = func(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
		defer readers.one()
		feed, err := revocations(ctx, after, n)
		return slices.DeleteFunc(feed, func(r driver.Revocation) bool {
			_, hidden := open.Load(r.ID)
			return hidden
		}), err
	}
}

func keepsSeq(b *parts) {
	first := map[string]uint64{}
	revocations := b.revocations
	b.revocations = func(ctx context.Context, after uint64, n int) ([]driver.Revocation, error) {
		feed, err := revocations(ctx, 0, driver.Page)
		for i, r := range feed {
			if first[r.ID] == 0 {
				first[r.ID] = r.Seq
			}
			feed[i].Seq = first[r.ID]
		}
		slices.SortFunc(feed, func(a, b driver.Revocation) int { return cmp.Compare(a.Seq, b.Seq) })
		feed = slices.DeleteFunc(feed, func(r driver.Revocation) bool { return r.Seq <= after })
		return feed[:min(n, len(feed))], err
	}
}

// staysTwice keeps every revocation as a line of its own.
func staysTwice(b *parts) {
	var all []driver.Revocation
	b.revoke = func(_ context.Context, rs ...driver.Revocation) error {
		for _, r := range rs {
			r.Seq = uint64(len(all)) + 1
			all = append(all, r)
		}
		return nil
	}
	b.revocations = func(_ context.Context, after uint64, n int) ([]driver.Revocation, error) {
		rest := all[min(after, uint64(len(all))):]
		return slices.Clone(rest[:min(n, len(rest))]), nil
	}
}
