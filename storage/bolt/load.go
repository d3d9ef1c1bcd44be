package bolt

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

// Load writes rows as they are and removes others, in one transaction.
func (s *Store) Load(ctx context.Context, table transfer.Table, rows []transfer.Row, gone [][]byte) error {
	changes := make([]func(*bbolt.Tx) error, 0, len(gone)+len(rows))
	var counted []driver.Count
	for _, key := range gone {
		change, err := unload(table, key)
		if err != nil {
			return err
		}
		changes = append(changes, change)
	}
	for _, r := range rows {
		change, err := load(table, r)
		if err != nil {
			return err
		}
		if table == transfer.Usage {
			count, _, _ := r.Usage() // load has read it
			counted = append(counted, count)
		}
		changes = append(changes, change)
	}
	if len(changes) == 0 {
		return nil
	}
	err := s.write(ctx, func(tx *bbolt.Tx) error {
		for _, change := range changes {
			if err := change(tx); err != nil {
				return err
			}
		}
		return nil
	})
	s.hours.forget(counted) // of a caller who has left, too: it may have been written
	return err
}

// load returns the change that a row makes.
func load(table transfer.Table, r transfer.Row) (change func(*bbolt.Tx) error, err error) {
	switch table {
	case transfer.Counters:
		name, last, err := r.Counter()
		return func(tx *bbolt.Tx) error { return bucket(tx, counterBucket[name]).SetSequence(last) }, err
	case transfer.Tokens:
		t, err := r.Token()
		row := encode([]driver.Token{t})
		return func(tx *bbolt.Tx) error { return replaceToken(tx, row) }, err
	case transfer.Revocations:
		r, err := r.Revocation()
		return func(tx *bbolt.Tx) error { return replaceRevocation(tx, r) }, err
	case transfer.Usage:
		c, days, err := r.Usage()
		key := append(usageKey(c.AppID, spanOf(days), c.At), c.Product...)
		return func(tx *bbolt.Tx) error { return putCount(tx, key, c) }, err
	case transfer.Batches:
		b, err := r.Batch()
		return func(tx *bbolt.Tx) error { return putBatch(tx, join(b.Node), b.Seq) }, err
	case transfer.Audit:
		r, err := r.Record()
		key, value := appendNumber(nil, r.Seq), append(appendTime(nil, r.At), r.Data...)
		return func(tx *bbolt.Tx) error {
			return errors.Join(bucket(tx, auditBucket).Put(key, value), setAuditSum(tx, key, value))
		}, err
	case transfer.Documents:
		d, err := r.Doc()
		row := encodeDoc(d)
		copy(row.value, appendNumber(nil, uint64(d.Version)))
		return func(tx *bbolt.Tx) error { return replaceDoc(tx, row) }, err
	}
	return nil, fmt.Errorf("%w: no table %q", driver.ErrInvalid, table)
}

// unload returns the change that removes the row of a key.
func unload(table transfer.Table, key []byte) (change func(*bbolt.Tx) error, err error) {
	switch table {
	case transfer.Tokens:
		k, err := transfer.TokenKey(key)
		return func(tx *bbolt.Tx) error { return removeToken(tx, k) }, err
	case transfer.Revocations:
		kind, id, err := transfer.RevocationKey(key)
		return func(tx *bbolt.Tx) error { return forgetStored(tx, join(kind, id)) }, err
	case transfer.Usage:
		app, days, at, product, err := transfer.UsageKey(key)
		key := append(usageKey(app, spanOf(days), at), product...)
		return func(tx *bbolt.Tx) error { return bucket(tx, usageBucket).Delete(key) }, err
	case transfer.Batches:
		node, err := transfer.BatchKey(key)
		return func(tx *bbolt.Tx) error { return bucket(tx, batchesBucket).Delete(join(node)) }, err
	case transfer.Audit:
		seq, err := transfer.RecordKey(key)
		return func(tx *bbolt.Tx) error { return bucket(tx, auditBucket).Delete(appendNumber(nil, seq)) }, err
	case transfer.Documents:
		kind, id, err := transfer.DocKey(key)
		return func(tx *bbolt.Tx) error { return removeStored(tx, join(kind, id)) }, err
	}
	return nil, fmt.Errorf("%w: nothing can be removed from the table %q", driver.ErrInvalid, table)
}

func spanOf(days bool) byte {
	if days {
		return daily
	}
	return hourly
}

func replaceToken(tx *bbolt.Tx, row []tokenRow) error {
	if err := removeToken(tx, row[0].key); err != nil {
		return err
	}
	return tokenTable{tx: tx}.add(row)
}

// removeToken removes a token from everywhere, if there is one.
func removeToken(tx *bbolt.Tx, key driver.Key) error {
	tokens := bucket(tx, tokensBucket)
	value, err := tokenRows(tx).find(tx, key[:])
	if err != nil || value == nil {
		return err
	}
	if err := dropEnd(tx, decodeToken(key, value).ExpiresAt, aToken, key[:]); err != nil {
		return err
	}
	return tokens.Delete(key[:])
}

// replaceRevocation also removes another revocation that has the number.
func replaceRevocation(tx *bbolt.Tx, r driver.Revocation) error {
	if err := forgetStored(tx, join(r.Kind, r.ID)); err != nil {
		return err
	}
	if other := bucket(tx, feedBucket).Get(appendNumber(nil, r.Seq)); other != nil {
		if err := forgetStored(tx, append([]byte{}, other...)); err != nil {
			return err
		}
	}
	return insertRevocation(tx, r)
}

// forgetStored is forget of a revocation that may not be there.
func forgetStored(tx *bbolt.Tx, key []byte) error {
	if stored, err := revocationRows(tx).find(tx, key); err != nil || stored == nil {
		return err
	}
	return forget(tx, key)
}

func replaceDoc(tx *bbolt.Tx, row docRow) error {
	if err := removeStored(tx, row.key); err != nil {
		return err
	}
	return row.insert(tx)
}

// removeStored is removeDoc of a document that may not be there.
func removeStored(tx *bbolt.Tx, key []byte) error {
	if stored, err := docRows(tx).find(tx, key); err != nil || stored == nil {
		return err
	}
	return removeDoc(tx, key)
}
