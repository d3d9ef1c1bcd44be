package storage

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/keystile/keystile/storage/driver"
)

// trailIndexKind is the kind of the documents by which audit records are found. They hold no text and
// no secret, only what is derived from the records, in a form of their own: a process of a version
// that does not know the form leaves them alone, because they say which one it is.
const trailIndexKind = "trail"

// TrailIndex returns up to n documents of the index of the audit trail that have an entry in span, in the
// order of their entries. They belong to whoever searches the trail.
func (s *Store) TrailIndex(ctx context.Context, span driver.Span, n int) (docs []driver.Doc, next string, err error) {
	docs, next, err = s.backend.List(ctx, trailIndexKind, span, n)
	return docs, next, unavailable("list the index of the audit trail", err)
}

// SaveTrailIndex writes documents of the index of the audit trail, all or none, whatever Kind they name.
func (s *Store) SaveTrailIndex(ctx context.Context, docs ...driver.Doc) (version int64, err error) {
	docs = slices.Clone(docs)
	for i := range docs {
		docs[i].Kind = trailIndexKind
	}
	return s.write(ctx, docs...)
}

// near is how many Seqs apart two records are read by one call of Records, where the store has no Pick.
const near = 64

// Pick returns the audit records that have these Seqs, up to driver.Page of them, ascending, and leaves
// out those that are not there.
func (s *Store) Pick(ctx context.Context, seqs ...uint64) ([]driver.Record, error) {
	if len(seqs) > driver.Page {
		return nil, fmt.Errorf("%w: %d audit records in one call, at most %d", ErrInvalid, len(seqs), driver.Page)
	}
	if picker := driver.AsPicker(s.writes.Backend); picker != nil {
		records, err := picker.Pick(ctx, seqs...)
		return records, unavailable("pick", err)
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
