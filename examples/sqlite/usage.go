package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Count implements driver.Backend: each batch once. Its number and its counts are one step.
func (s *Store) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	if len(counts) == 0 {
		return nil
	}
	counts = slices.Clone(counts)
	return s.write(ctx, func(x *step) error {
		done, err := x.exec("INSERT INTO batch VALUES (?, ?) ON CONFLICT DO UPDATE SET seq = excluded.seq WHERE seq < "+
			"excluded.seq", b.Node, fmt.Sprintf("%020d", b.Seq))
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return err // it was counted before
		}
		for _, c := range counts {
			if err := errors.Join(x.add(c, false, driver.Hour(c.At)), x.add(c, true, driver.Day(c.At))); err != nil {
				return err
			}
		}
		return nil
	})
}

// add adds to one row. Sums stop at the largest number, which SQL would overflow.
func (x *step) add(c driver.Count, daily bool, start time.Time) error {
	var sum driver.Count
	row := x.row("SELECT calls, errors FROM usage WHERE app = ? AND daily = ? AND at = ? AND product = ?", c.AppID, daily,
		text(start), c.Product)
	if err := found(row.Scan(&sum.Calls, &sum.Errors)); err != nil && !errors.Is(err, driver.ErrNotFound) {
		return err
	}
	c = c.Plus(sum)
	_, err := x.exec("INSERT OR REPLACE INTO usage VALUES (?, ?, ?, ?, ?, ?)", c.AppID, daily, text(start), c.Product,
		c.Calls, c.Errors)
	return err
}

// Usage implements driver.Backend: by time, then by product, which is the order of the key.
func (s *Store) Usage(ctx context.Context, q driver.UsageQuery) (counts []driver.Count, err error) {
	rows, err := s.reads.QueryContext(ctx, "SELECT product, at, calls, errors FROM usage WHERE app = ? AND daily = ? "+
		"AND at >= ? AND at < ? AND ? IN ('', product) ORDER BY at, product",
		q.AppID, q.Daily, text(q.From), text(q.To), q.Product)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		c := driver.Count{AppID: q.AppID}
		var at string
		if err := rows.Scan(&c.Product, &at, &c.Calls, &c.Errors); err != nil {
			return nil, err
		}
		if c.At, err = when(at); err != nil {
			return nil, err
		}
		counts = append(counts, c)
	}
	return counts, rows.Err()
}

// Append implements driver.Backend: in the order given.
func (s *Store) Append(ctx context.Context, records ...driver.Record) error {
	records = slices.Clone(records)
	for i := range records {
		records[i].Data = slices.Clone(records[i].Data)
	}
	return s.write(ctx, func(x *step) error {
		for _, r := range records {
			seq, err := x.next("record")
			if err != nil {
				return err
			}
			if _, err := x.exec("INSERT INTO record VALUES (?, ?, ?)", seq, text(r.At), r.Data); err != nil {
				return err
			}
		}
		return nil
	})
}

// Records implements driver.Backend.
func (s *Store) Records(ctx context.Context, after uint64, n int) (page []driver.Record, err error) {
	rows, err := s.reads.QueryContext(ctx, "SELECT seq, at, data FROM record WHERE seq > ? ORDER BY seq LIMIT ?",
		number(after), n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scanRecord(rows)
		if err != nil {
			return nil, err
		}
		page = append(page, r)
	}
	return page, rows.Err()
}

// Pick implements driver.Picker, which an adapter may leave out.
func (s *Store) Pick(ctx context.Context, seqs ...uint64) (picked []driver.Record, err error) {
	asked := make([]int64, len(seqs))
	for i, seq := range seqs {
		asked[i] = number(seq)
	}
	list, err := json.Marshal(asked)
	if err != nil {
		return nil, err
	}
	rows, err := s.reads.QueryContext(ctx,
		"SELECT seq, at, data FROM record WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq", string(list))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scanRecord(rows)
		if err != nil {
			return nil, err
		}
		picked = append(picked, r)
	}
	return picked, rows.Err()
}

func scanRecord(row scanner) (r driver.Record, err error) {
	var at string
	if err := row.Scan(&r.Seq, &at, &r.Data); err != nil {
		return r, err
	}
	r.At, err = when(at)
	return r, err
}

// Appended implements driver.Backend: the last number that was given, whatever became of its record.
func (s *Store) Appended(ctx context.Context) (last uint64, err error) {
	err = s.reads.QueryRowContext(ctx, "SELECT coalesce((SELECT seq FROM last WHERE name = 'record'), 0)").Scan(&last)
	return last, err
}

// Prune implements driver.Backend: the lowest first. Their numbers are not given again.
func (s *Store) Prune(ctx context.Context, through uint64, n int) (removed int, err error) {
	err = s.write(ctx, func(x *step) error {
		removed, err = x.remove("DELETE FROM record WHERE seq IN (SELECT seq FROM record WHERE seq <= ? ORDER BY seq LIMIT "+
			"?)", number(through), n)
		return err
	})
	return removed, err
}

func (x *step) remove(query string, args ...any) (int, error) {
	done, err := x.exec(query, args...)
	if err != nil {
		return 0, err
	}
	n, err := done.RowsAffected()
	return int(n), err
}

// Sweep implements driver.Backend: what ended by at, up to n, and nothing that never ends.
func (s *Store) Sweep(ctx context.Context, at time.Time, n int) (removed int, err error) {
	end, hours := text(at), "" // nothing is before ""
	if oldest := at.Add(-driver.UsageHours); oldest.UTC().Year() > 0 {
		hours = text(oldest)
	}
	err = s.write(ctx, func(x *step) error {
		removed = 0 // a step may run twice
		for _, of := range []struct{ query, end string }{
			{"DELETE FROM token WHERE key IN (SELECT key FROM token WHERE ends <> '' AND ends <= ? LIMIT ?)", end},
			{"DELETE FROM revocation WHERE seq IN (SELECT seq FROM revocation WHERE until <> '' AND until <= ? LIMIT ?)", end},
			{"DELETE FROM doc WHERE (kind, id) IN (SELECT kind, id FROM doc WHERE ends <> '' AND ends <= ? LIMIT ?)", end},
			{"DELETE FROM usage WHERE (app, daily, at, product) IN (SELECT app, daily, at, product FROM usage WHERE daily = 0 " +
				"AND at < ? LIMIT ?)", hours},
		} {
			n, err := x.remove(of.query, of.end, n-removed)
			if err != nil {
				return err
			}
			removed += n
		}
		return nil
	})
	return removed, err
}
