package planted

import (
	"context"
	"slices"

	"github.com/keystile/keystile/storage/driver"
)

type pickFunc func(ctx context.Context, seqs ...uint64) ([]driver.Record, error)

// byRecords is Pick for a Backend that has none, so that the bugs can be planted there, too.
func byRecords(b driver.Backend) pickFunc {
	return func(ctx context.Context, seqs ...uint64) (all []driver.Record, err error) {
		for _, seq := range slices.Compact(slices.Sorted(slices.Values(seqs))) {
			records, err := b.Records(ctx, max(seq, 1)-1, 1)
			if err != nil {
				return nil, err
			}
			if len(records) > 0 && records[0].Seq == seq {
				all = append(all, records[0])
			}
		}
		return all, nil
	}
}

func pickBugs() []bug {
	const come, missing, page = "Pick/the records that are asked for", "Pick/what is not there", "Pick/a page of Seqs"
	out := func(change func([]driver.Record) []driver.Record) func(pickFunc) pickFunc {
		return func(pick pickFunc) pickFunc {
			return func(ctx context.Context, seqs ...uint64) ([]driver.Record, error) {
				records, err := pick(ctx, seqs...)
				return change(records), err
			}
		}
	}
	return []bug{
		{name: "Pick answers the highest first", caught: come, pick: out(func(records []driver.Record) []driver.Record {
			slices.Reverse(records)
			return records
		})},
		{name: "Pick answers each Seq as often as it is asked for", caught: come, pick: func(pick pickFunc) pickFunc {
			return func(ctx context.Context, seqs ...uint64) (all []driver.Record, err error) {
				for _, seq := range slices.Sorted(slices.Values(seqs)) {
					records, err := pick(ctx, seq)
					if err != nil {
						return nil, err
					}
					all = append(all, records...)
				}
				return all, nil
			}
		}},
		{name: "Pick orders what it is handed", caught: come, pick: func(pick pickFunc) pickFunc {
			return func(ctx context.Context, seqs ...uint64) ([]driver.Record, error) {
				slices.Sort(seqs)
				return pick(ctx, seqs...)
			}
		}},
		{name: "Pick fails for a record that is gone", caught: missing, pick: func(pick pickFunc) pickFunc {
			return func(ctx context.Context, seqs ...uint64) ([]driver.Record, error) {
				records, err := pick(ctx, seqs...)
				if err == nil && len(records) < len(seqs) && len(records) == 0 {
					err = driver.ErrNotFound
				}
				return records, err
			}
		}},
		{name: "Pick answers a hundred at most", caught: page, pick: out(func(records []driver.Record) []driver.Record {
			return records[:min(len(records), 100)]
		})},
	}
}
