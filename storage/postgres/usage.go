package postgres

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/keystile/keystile/storage/driver"
)

// usageRow is a row of an hour or a day, and what is added to it.
type usageRow struct {
	driver.Count
	daily bool
}

// Count adds a batch to the rows of its hours and days, once.
func (s *Store) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	switch {
	case len(counts) == 0:
		return s.idle(ctx)
	case b.Seq > math.MaxInt64:
		return tooLarge(b.Seq)
	}
	apps, daily, at, products, calls, errors := usageColumns(rowsOf(counts))
	return s.run(ctx, addCounts, func(ctx context.Context, c conn, _ bool) error {
		return c.exec(ctx, addCounts, b.Node, int64(b.Seq), apps, daily, at, products, calls, errors)
	})
}

func tooLarge(n uint64) error {
	return fmt.Errorf("%w: the number %d: they end at %d", driver.ErrInvalid, n, int64(math.MaxInt64))
}

// usageColumns turns rows into one array for each column.
func usageColumns(rows []usageRow) (apps []string, daily []bool, at [][]byte, products []string, calls,
	errors []int64) {
	n := len(rows)
	apps, daily, at, products = make([]string, n), make([]bool, n), make([][]byte, n), make([]string, n)
	calls, errors = make([]int64, n), make([]int64, n)
	for i, r := range rows {
		apps[i], daily[i], at[i], products[i] = r.AppID, r.daily, stamp(r.At), r.Product
		calls[i], errors[i] = r.Calls, r.Errors
	}
	return apps, daily, at, products, calls, errors
}

// rowsOf adds up what belongs to one row, which a statement may write only once. The rows are in
// order, so that two nodes lock those they share in the same order.
func rowsOf(counts []driver.Count) []usageRow {
	rows := make([]usageRow, 0, 2*len(counts))
	for _, c := range counts {
		hour, day := c, c
		hour.At, day.At = driver.Hour(c.At), driver.Day(c.At)
		rows = append(rows, usageRow{hour, false}, usageRow{day, true})
	}
	order := func(a, b usageRow) int {
		return cmp.Or(cmp.Compare(a.AppID, b.AppID), compareBools(a.daily, b.daily), a.At.Compare(b.At),
			cmp.Compare(a.Product, b.Product))
	}
	slices.SortFunc(rows, order)
	sums := rows[:0]
	for _, r := range rows {
		if last := len(sums) - 1; last >= 0 && order(sums[last], r) == 0 {
			sums[last].Count = sums[last].Plus(r.Count)
			continue
		}
		sums = append(sums, r)
	}
	return sums
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Usage returns the rows that match q.
func (s *Store) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
	text, args := readUsage, []any{q.AppID, q.Daily, stamp(q.From), stamp(q.To)}
	if q.Product != "" {
		text, args = readUsageOf, append(args, q.Product)
	}
	return list(ctx, s, text, args, func(row pgx.Rows) (driver.Count, error) {
		count := driver.Count{AppID: q.AppID}
		var at []byte
		err := row.Scan(&at, &count.Product, &count.Calls, &count.Errors)
		if err == nil {
			err = read(at, &count.At)
		}
		return count, err
	})
}

// UsageOf returns the rows of several applications, in one statement.
func (s *Store) UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error) {
	if len(apps) == 0 {
		return nil, s.idle(ctx)
	}
	args := []any{apps, q.Daily, stamp(q.From), stamp(q.To), q.Product}
	return list(ctx, s, readMeters, args, func(row pgx.Rows) (count driver.Count, err error) {
		var at []byte
		if err = row.Scan(&count.AppID, &at, &count.Product, &count.Calls, &count.Errors); err == nil {
			err = read(at, &count.At)
		}
		return count, err
	})
}
