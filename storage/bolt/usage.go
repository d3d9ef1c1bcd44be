package bolt

import (
	"bytes"
	"context"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
)

// Count adds a batch to the rows of its hours and days, once.
func (s *Store) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	if len(counts) == 0 {
		return nil
	}
	counts = slices.Clone(counts)
	err := s.write(ctx, func(tx *bbolt.Tx) error {
		batches, node := bucket(tx, batchesBucket), join(b.Node)
		if seen := batches.Get(node); seen != nil {
			if highest, _ := cutNumber(seen); b.Seq <= highest {
				return nil
			}
		}
		for _, c := range counts {
			if err := addCount(tx, c, hourly, driver.Hour(c.At)); err != nil {
				return err
			}
			if err := addCount(tx, c, daily, driver.Day(c.At)); err != nil {
				return err
			}
		}
		return batches.Put(node, appendNumber(nil, b.Seq))
	})
	s.hours.forget(counts) // of a caller who has left, too: it may have been written
	return err
}

const (
	hourly = 'h'
	daily  = 'd'
)

func addCount(tx *bbolt.Tx, c driver.Count, span byte, at time.Time) error {
	rows := bucket(tx, usageBucket)
	key := append(usageKey(c.AppID, span, at), c.Product...)
	if value := rows.Get(key); value != nil {
		c = c.Plus(decodeCount(value))
	}
	return rows.Put(key, appendNumber(appendNumber(nil, uint64(c.Calls)), uint64(c.Errors)))
}

func decodeCount(value []byte) (c driver.Count) {
	calls, rest := cutNumber(value)
	failed, _ := cutNumber(rest)
	c.Calls, c.Errors = int64(calls), int64(failed)
	return c
}

// usageKey is the key of a row, up to its product.
func usageKey(app string, span byte, at time.Time) []byte {
	return appendTime(append(join(app), span), at)
}

// Usage returns the rows that match q.
func (s *Store) Usage(ctx context.Context, q driver.UsageQuery) (rows []driver.Count, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		rows = readUsage(tx, q, nil)
		return nil
	})
	return rows, err
}

// UsageOf returns the rows of several applications, in one transaction.
func (s *Store) UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) (rows []driver.Count, err error) {
	apps = slices.Compact(slices.Sorted(slices.Values(apps)))
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		for _, q.AppID = range apps {
			rows = readUsage(tx, q, rows)
		}
		return nil
	})
	return rows, err
}

// readUsage appends the rows that match a question.
func readUsage(tx *bbolt.Tx, q driver.UsageQuery, rows []driver.Count) []driver.Count {
	span := byte(hourly)
	if q.Daily {
		span = daily
	}
	from, to := usageKey(q.AppID, span, q.From), usageKey(q.AppID, span, q.To)
	c := bucket(tx, usageBucket).Cursor()
	for key, value := c.Seek(from); key != nil && bytes.Compare(key, to) < 0; key, value = c.Next() {
		row := decodeCount(value)
		at, product := cutTime(key[len(from)-timeSize:])
		row.AppID, row.At, row.Product = q.AppID, at, string(product)
		if q.Product == "" || q.Product == row.Product {
			rows = append(rows, row)
		}
	}
	return rows
}
