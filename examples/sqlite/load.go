package main

import (
	"context"
	"fmt"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

// Load implements transfer.Adapter. All rows are read before the first is written.
func (s *Store) Load(ctx context.Context, table transfer.Table, rows []transfer.Row, gone [][]byte) error {
	var changes []func(*step) error
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
		changes = append(changes, change)
	}
	return s.write(ctx, func(x *step) error {
		for _, change := range changes {
			if err := change(x); err != nil {
				return err
			}
		}
		return nil
	})
}

// statement is a change of one statement.
func statement(query string, args ...any) func(*step) error {
	return func(x *step) error {
		_, err := x.exec(query, args...)
		return err
	}
}

// load returns the change that a row makes. INSERT OR REPLACE removes what has the key, and the
// revocation that has the number.
func load(table transfer.Table, r transfer.Row) (func(*step) error, error) {
	switch table {
	case transfer.Counters:
		name, last, err := r.Counter()
		return statement("INSERT OR REPLACE INTO last VALUES (?, ?)", sequence[name], int64(last)), err
	case transfer.Tokens:
		t, err := r.Token()
		if err != nil {
			return nil, err
		}
		rows, err := rowsOf([]driver.Token{t})
		return func(x *step) error {
			if _, err := x.exec("DELETE FROM token WHERE key = ?", t.Key[:]); err != nil {
				return err
			}
			return x.issue(rows)
		}, err
	case transfer.Revocations:
		r, err := r.Revocation()
		return statement("INSERT OR REPLACE INTO revocation VALUES (?, ?, ?, ?, ?)", r.Kind, r.ID, int64(r.Seq),
			text(r.Before), text(r.Until)), err
	case transfer.Usage:
		c, daily, err := r.Usage()
		return statement("INSERT OR REPLACE INTO usage VALUES (?, ?, ?, ?, ?, ?)", c.AppID, daily, text(c.At), c.Product,
			c.Calls, c.Errors), err
	case transfer.Batches:
		b, err := r.Batch()
		return statement("INSERT OR REPLACE INTO batch VALUES (?, ?)", b.Node, fmt.Sprintf("%020d", b.Seq)), err
	case transfer.Audit:
		r, err := r.Record()
		return statement("INSERT OR REPLACE INTO record VALUES (?, ?, ?)", int64(r.Seq), text(r.At), r.Data), err
	case transfer.Documents:
		d, err := r.Doc()
		return func(x *step) error { return x.store(d, d.Version) }, err
	}
	return nil, fmt.Errorf("%w: no table %q", driver.ErrInvalid, table)
}

// unload returns the change that removes the row of a key.
func unload(table transfer.Table, key []byte) (func(*step) error, error) {
	switch table {
	case transfer.Tokens:
		k, err := transfer.TokenKey(key)
		return statement("DELETE FROM token WHERE key = ?", k[:]), err
	case transfer.Revocations:
		kind, id, err := transfer.RevocationKey(key)
		return statement("DELETE FROM revocation WHERE kind = ? AND id = ?", kind, id), err
	case transfer.Usage:
		app, daily, at, product, err := transfer.UsageKey(key)
		return statement("DELETE FROM usage WHERE app = ? AND daily = ? AND at = ? AND product = ?", app, daily, text(at),
			product), err
	case transfer.Batches:
		node, err := transfer.BatchKey(key)
		return statement("DELETE FROM batch WHERE node = ?", node), err
	case transfer.Audit:
		seq, err := transfer.RecordKey(key)
		return statement("DELETE FROM record WHERE seq = ?", number(seq)), err
	case transfer.Documents:
		kind, id, err := transfer.DocKey(key)
		return statement("DELETE FROM doc WHERE kind = ? AND id = ?", kind, id), err
	}
	return nil, fmt.Errorf("%w: nothing can be removed from the table %q", driver.ErrInvalid, table)
}
