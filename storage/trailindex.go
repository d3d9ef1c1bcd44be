package storage

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// near bounds how many Seqs apart two records are that one call of Records reads, where the store has no Pick.
const near = 64

// Pick returns the audit records that have these Seqs, up to driver.Page of them, ascending, and leaves
// out those that are not there.
func (s *Store) Pick(ctx context.Context, seqs ...uint64) ([]driver.Record, error) {
	if len(seqs) > driver.Page {
		return nil, fmt.Errorf("%w: %d audit records in one call, at most %d", ErrInvalid, len(seqs), driver.Page)
	}
	if picker, ok := driver.As[driver.Picker](document.Adapter(s.documents)); ok {
		records, err := picker.Pick(ctx, seqs...)
		return records, document.Unavailable("pick", err)
	}
	seqs = slices.Compact(slices.Sorted(slices.Values(seqs)))
	if len(seqs) > 0 && seqs[0] == 0 {
		seqs = seqs[1:]
	}
	var picked []driver.Record
	for len(seqs) > 0 {
		n := 1
		for n < len(seqs) && seqs[n]-seqs[0] < near {
			n++
		}
		page, err := s.Records(ctx, seqs[0]-1, int(seqs[n-1]-seqs[0]+1))
		if err != nil {
			return nil, err
		}
		for _, r := range page {
			if _, asked := slices.BinarySearchFunc(seqs[:n], r.Seq, cmp.Compare[uint64]); asked {
				picked = append(picked, r)
			}
		}
		seqs = seqs[n:]
	}
	return picked, nil
}
