package bolt

import (
	"bytes"
	"context"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/rowsum"
)

// Count adds a batch to the rows of its hours and days, once.
func (s *Store) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	if len(counts) == 0 {
		return nil
	}
	counts = slices.Clone(counts)
	err := s.write(ctx, func(tx *bbolt.Tx) error {
		node := join(b.Node)
		seen, err := batchRows(tx).find(tx, node)
		if err != nil {
			return err
		}
		if seen != nil {
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
		return putBatch(tx, node, b.Seq)
	})
	s.hours.forget(counts) // of a caller who has left, too: it may have been written
	return err
}

const (
	hourly = 'h'
	daily  = 'd'
)

func putBatch(tx *bbolt.Tx, node []byte, seq uint64) error {
	return bucket(tx, batchesBucket).Put(node, sealRow(batchSeed, node, appendNumber(nil, seq)))
}

// addCount adds to a row. Where that is damaged the batch fails, and waits in the journal of its node: what the row
// has counted is not known, and a sum that begins anew would let calls in that are used up.
func addCount(tx *bbolt.Tx, c driver.Count, span byte, at time.Time) error {
	key := append(usageKey(c.AppID, span, at), c.Product...)
	value, err := countRows(tx).find(tx, key)
	if err != nil {
		return err
	}
	if value != nil {
		c = c.Plus(decodeCount(value))
	}
	return putCount(tx, key, c)
}

func putCount(tx *bbolt.Tx, key []byte, c driver.Count) error {
	body := appendNumber(make([]byte, 0, countSize+rowsum.BinarySize), uint64(c.Calls))
	return bucket(tx, usageBucket).Put(key, sealRow(usageSeed, key, appendNumber(body, uint64(c.Errors))))
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
		var err error
		rows, err = readUsage(tx, q, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// UsageOf returns the rows of several applications, in one transaction.
func (s *Store) UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) (rows []driver.Count, err error) {
	apps = slices.Compact(slices.Sorted(slices.Values(apps)))
	err = s.view(ctx, func(tx *bbolt.Tx) (err error) {
		for _, q.AppID = range apps {
			if rows, err = readUsage(tx, q, rows); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// readUsage appends the rows that match a question.
func readUsage(tx *bbolt.Tx, q driver.UsageQuery, rows []driver.Count) ([]driver.Count, error) {
	span := byte(hourly)
	if q.Daily {
		span = daily
	}
	from, to := usageKey(q.AppID, span, q.From), usageKey(q.AppID, span, q.To)
	err := walk(bucket(tx, usageBucket), usageBucket, from, checkCount, func(key, value []byte) bool {
		if bytes.Compare(key, to) >= 0 {
			return false
		}
		row := decodeCount(value)
		at, product := cutTime(key[len(from)-timeSize:])
		row.AppID, row.At, row.Product = q.AppID, at, string(product)
		if q.Product == "" || q.Product == row.Product {
			rows = append(rows, row)
		}
		return true
	})
	return rows, err
}
