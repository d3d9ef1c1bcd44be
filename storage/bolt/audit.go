package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
)

// Append adds audit records.
func (s *Store) Append(ctx context.Context, records ...driver.Record) error {
	if len(records) == 0 {
		return nil
	}
	values := make([][]byte, len(records))
	for i, r := range records {
		values[i] = append(appendTime(nil, r.At), r.Data...)
	}
	return s.write(ctx, func(tx *bbolt.Tx) error {
		audit := bucket(tx, auditBucket)
		var first []byte
		sums := make([]byte, 0, 4*len(values)+ownSize)
		for _, value := range values {
			seq, err := audit.NextSequence()
			if err != nil {
				return err
			}
			key := appendNumber(nil, seq)
			if err := audit.Put(key, value); err != nil {
				return err
			}
			if first == nil {
				first = key
			}
			sums = binary.BigEndian.AppendUint32(sums, rowSum(auditSeed, key, value))
		}
		return putSums(tx, sumsKey(auditSums, first), sums)
	})
}

// Appended returns the number that the bucket has counted to.
func (s *Store) Appended(ctx context.Context) (last uint64, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		last = bucket(tx, auditBucket).Sequence()
		return nil
	})
	return last, err
}

// Prune removes the first n records up to a Seq. The keys are collected first: a cursor that
// deletes as it goes may step over one.
func (s *Store) Prune(ctx context.Context, through uint64, n int) (int, error) {
	some := false
	err := s.view(ctx, func(tx *bbolt.Tx) error {
		some = len(upTo(tx, through, 1)) > 0
		return nil
	})
	if err != nil || !some {
		return 0, err // mostly there is nothing, and that takes no write
	}
	removed := 0
	err = s.write(ctx, func(tx *bbolt.Tx) error {
		keys := upTo(tx, through, n)
		for _, key := range keys {
			if err := bucket(tx, auditBucket).Delete(key); err != nil {
				return err
			}
		}
		removed = len(keys)
		if removed == 0 {
			return nil
		}
		last, _ := cutNumber(keys[removed-1])
		return pruneSums(tx, last)
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// upTo returns the first n keys of the trail that are not above a Seq.
func upTo(tx *bbolt.Tx, through uint64, n int) (keys [][]byte) {
	c := bucket(tx, auditBucket).Cursor()
	for key, _ := c.First(); key != nil && len(keys) < n; key, _ = c.Next() {
		if seq, _ := cutNumber(key); seq > through {
			break
		}
		keys = append(keys, bytes.Clone(key))
	}
	return keys
}

// Pick returns the records that have these Seqs, as one view of the trail.
func (s *Store) Pick(ctx context.Context, seqs ...uint64) (picked []driver.Record, err error) {
	seqs = slices.Compact(slices.Sorted(slices.Values(seqs)))
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		audit := auditRows(tx)
		for _, seq := range seqs {
			value, err := audit.find(tx, appendNumber(nil, seq))
			if err != nil {
				return err
			}
			if value != nil {
				at, data := cutTime(value)
				picked = append(picked, driver.Record{Seq: seq, At: at, Data: bytes.Clone(data)})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return picked, nil
}

// Records returns the audit trail behind after. A page with a damaged record fails: a reader leaves none out.
func (s *Store) Records(ctx context.Context, after uint64, n int) (page []driver.Record, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		return walk(bucket(tx, auditBucket), auditBucket, behind(after), checkTrail(tx), func(key, value []byte) bool {
			if len(page) == n {
				return false
			}
			seq, _ := cutNumber(key)
			at, data := cutTime(value)
			page = append(page, driver.Record{Seq: seq, At: at, Data: bytes.Clone(data)})
			return true
		})
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}
