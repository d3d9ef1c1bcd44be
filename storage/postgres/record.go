package postgres

import (
	"context"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/keystile/keystile/storage/driver"
)

// Append adds audit records. Their numbers have no gaps: who takes numbers holds the counter until
// the records are visible, and a step that fails gives them back.
func (s *Store) Append(ctx context.Context, records ...driver.Record) error {
	if len(records) == 0 {
		return s.idle(ctx)
	}
	at, data := make([][]byte, len(records)), make([][]byte, len(records))
	for i, r := range records {
		at[i], data[i] = stamp(r.At), notNull(r.Data)
	}
	call := drawn(slices.Clone(at[0])) // begins with a time, so that the index grows at its end
	return s.run(ctx, appendRecords, func(ctx context.Context, c conn, again bool) error {
		err := c.exec(ctx, appendRecords, at, data, call)
		if again && is(err, uniqueViolation) {
			return nil // by an attempt whose answer was lost
		}
		return err
	})
}

// notNull turns nil, which is NULL, into no bytes.
func notNull(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// Records returns the audit trail behind after.
func (s *Store) Records(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
	if after > math.MaxInt64 {
		return nil, s.idle(ctx)
	}
	return list(ctx, s, readRecords, []any{int64(after), n}, scanRecord)
}

// Pick returns the records that have these Seqs.
func (s *Store) Pick(ctx context.Context, seqs ...uint64) ([]driver.Record, error) {
	given := make([]int64, 0, len(seqs))
	for _, seq := range seqs {
		if 0 < seq && seq <= math.MaxInt64 {
			given = append(given, int64(seq))
		}
	}
	if len(given) == 0 {
		return nil, s.idle(ctx)
	}
	return list(ctx, s, pickRecords, []any{given}, scanRecord)
}

func scanRecord(row pgx.Rows) (r driver.Record, err error) {
	var at []byte
	if err = row.Scan(&r.Seq, &at, &r.Data); err == nil {
		err = read(at, &r.At)
	}
	return r, err
}

// Appended returns the last Seq that was given.
func (s *Store) Appended(ctx context.Context) (last uint64, err error) {
	err = s.run(ctx, lastRecord, func(ctx context.Context, c conn, _ bool) error {
		return c.row(ctx, lastRecord, nil, &last)
	})
	return last, err
}

// Prune removes the first n records up to a Seq.
func (s *Store) Prune(ctx context.Context, through uint64, n int) (removed int, err error) {
	err = s.run(ctx, pruneRecords, func(ctx context.Context, c conn, _ bool) error {
		tag, err := c.Exec(ctx, s.texts[pruneRecords], int64(min(through, math.MaxInt64)), n)
		removed = int(tag.RowsAffected())
		return err
	})
	return removed, err
}
