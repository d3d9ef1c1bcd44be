package bolt

import (
	"bytes"
	"context"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage"
)

// Append adds audit records.
func (s *Store) Append(ctx context.Context, records ...storage.Record) error {
	if len(records) == 0 {
		return nil
	}
	values := make([][]byte, len(records))
	for i, r := range records {
		values[i] = append(appendTime(nil, r.At), r.Data...)
	}
	return s.write(ctx, func(tx *bbolt.Tx) error {
		audit := bucket(tx, auditBucket)
		for _, value := range values {
			seq, err := audit.NextSequence()
			if err != nil {
				return err
			}
			if err := audit.Put(appendNumber(nil, seq), value); err != nil {
				return err
			}
		}
		return nil
	})
}

// Records returns the audit trail behind after.
func (s *Store) Records(ctx context.Context, after uint64, n int) (page []storage.Record, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		c := bucket(tx, auditBucket).Cursor()
		for key, value := c.Seek(behind(after)); key != nil && len(page) < n; key, value = c.Next() {
			seq, _ := cutNumber(key)
			at, data := cutTime(value)
			page = append(page, storage.Record{Seq: seq, At: at, Data: bytes.Clone(data)})
		}
		return nil
	})
	return page, err
}
