package memory

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// row is the key of a usage row.
type row struct {
	app, product string
	daily        bool
	at           time.Time // in UTC, or equal moments would be different rows
}

// Count adds a batch to the rows of its hours and days, once.
func (s *Store) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	return s.step(ctx, func() error {
		if len(counts) == 0 || b.Seq <= s.batches[b.Node] {
			return nil
		}
		s.batches[b.Node] = b.Seq
		for _, c := range counts {
			s.count(c, row{c.AppID, c.Product, false, driver.Hour(c.At)})
			s.count(c, row{c.AppID, c.Product, true, driver.Day(c.At)})
		}
		return nil
	})
}

func (s *Store) count(c driver.Count, into row) {
	c.At = into.at
	s.usage[into] = c.Plus(s.usage[into])
}

// Usage returns the rows that match q.
func (s *Store) Usage(ctx context.Context, q driver.UsageQuery) (rows []driver.Count, err error) {
	err = s.step(ctx, func() error {
		for r, c := range s.usage {
			ours := r.app == q.AppID && r.daily == q.Daily && (q.Product == "" || r.product == q.Product)
			if ours && !r.at.Before(q.From) && r.at.Before(q.To) {
				rows = append(rows, c)
			}
		}
		slices.SortFunc(rows, func(a, b driver.Count) int {
			return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Product, b.Product))
		})
		return nil
	})
	return rows, err
}

// Append adds audit records.
func (s *Store) Append(ctx context.Context, records ...driver.Record) error {
	return s.step(ctx, func() error {
		for _, r := range records {
			s.appended++
			s.records = append(s.records, driver.Record{Seq: s.appended, At: plain(r.At), Data: slices.Clone(r.Data)})
		}
		return nil
	})
}

// through returns how many records have a Seq up to this one.
func (s *Store) through(seq uint64) int {
	bySeq := func(r driver.Record, seq uint64) int { return cmp.Compare(r.Seq, seq) }
	n, there := slices.BinarySearchFunc(s.records, seq, bySeq)
	if there {
		n++
	}
	return n
}

// Records returns the audit trail behind after.
func (s *Store) Records(ctx context.Context, after uint64, n int) (page []driver.Record, err error) {
	err = s.step(ctx, func() error {
		rest := s.records[s.through(after):]
		for _, r := range rest[:min(n, len(rest))] {
			r.Data = slices.Clone(r.Data)
			page = append(page, r)
		}
		return nil
	})
	return page, err
}

// Pick returns the records that have these Seqs.
func (s *Store) Pick(ctx context.Context, seqs ...uint64) (picked []driver.Record, err error) {
	seqs = slices.Compact(slices.Sorted(slices.Values(seqs)))
	err = s.step(ctx, func() error {
		for _, seq := range seqs {
			if n := s.through(seq); n > 0 && s.records[n-1].Seq == seq {
				r := s.records[n-1]
				r.Data = slices.Clone(r.Data)
				picked = append(picked, r)
			}
		}
		return nil
	})
	return picked, err
}

// Appended returns the last Seq that was given.
func (s *Store) Appended(ctx context.Context) (last uint64, err error) {
	err = s.step(ctx, func() error {
		last = s.appended
		return nil
	})
	return last, err
}

// Prune removes the first n records up to a Seq.
func (s *Store) Prune(ctx context.Context, through uint64, n int) (removed int, err error) {
	err = s.step(ctx, func() error {
		removed = min(s.through(through), n)
		s.records = slices.Clone(s.records[removed:])
		return nil
	})
	return removed, err
}
