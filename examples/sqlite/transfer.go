package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

var _ transfer.Adapter = (*Store)(nil)

// sequence is what the table last calls a counter.
var sequence = map[string]string{transfer.LastRecord: "record", transfer.LastRevocation: "revocation",
	transfer.LastVersion: "version"}

// listing is how a table is read: by its primary key, whose order is the one wanted.
type listing struct {
	columns, table, key string // key: its columns
	values              func(key []byte) ([]any, error)
	scan                func(*sql.Rows) (transfer.Row, error)
}

var listings = map[transfer.Table]listing{
	transfer.Tokens: {"key, spent, data", "token", "key", func(key []byte) ([]any, error) {
		k, err := transfer.TokenKey(key)
		return []any{k[:]}, err
	}, scanTokenRow},
	transfer.Revocations: {revocationColumns, "revocation", "kind, id", func(key []byte) ([]any, error) {
		kind, id, err := transfer.RevocationKey(key)
		return []any{kind, id}, err
	}, scanRevocationRow},
	transfer.Usage: {"app, daily, at, product, calls, errors", "usage", "app, daily, at, product",
		func(key []byte) ([]any, error) {
			app, daily, at, product, err := transfer.UsageKey(key)
			return []any{app, daily, text(at), product}, err
		}, scanUsageRow},
	transfer.Batches: {"node, seq", "batch", "node", func(key []byte) ([]any, error) {
		node, err := transfer.BatchKey(key)
		return []any{node}, err
	}, scanBatchRow},
	transfer.Audit: {"seq, at, data", "record", "seq", func(key []byte) ([]any, error) {
		seq, err := transfer.RecordKey(key)
		return []any{number(seq)}, err
	}, scanRecordRow},
	transfer.Documents: {docColumns, "doc", "kind, id", func(key []byte) ([]any, error) {
		kind, id, err := transfer.DocKey(key)
		return []any{kind, id}, err
	}, scanDocRow},
}

// Rows implements transfer.Adapter.
func (s *Store) Rows(ctx context.Context, table transfer.Table, after []byte, n int) ([]transfer.Row, error) {
	if table == transfer.Counters {
		return s.counters(ctx, after, n)
	}
	l, known := listings[table]
	if !known {
		return nil, fmt.Errorf("%w: no table %q", driver.ErrInvalid, table)
	}
	behind, args := "", []any(nil)
	if after != nil { // another statement: with an OR for the first page, SQLite would read all in front of a page
		values, err := l.values(after)
		if err != nil {
			return nil, err
		}
		args = values
		behind = "WHERE (" + l.key + ") > (?" + strings.Repeat(", ?", len(values)-1) + ")"
	}
	rows, err := s.reads.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s %s ORDER BY %s LIMIT ?", l.columns, l.table,
		behind, l.key), append(args, n)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	p := transfer.NewPage(n)
	for rows.Next() {
		r, err := l.scan(rows)
		if err != nil {
			return nil, err
		}
		if !p.Add(r) {
			return p.Rows, nil
		}
	}
	return p.Rows, rows.Err()
}

func (s *Store) counters(ctx context.Context, after []byte, n int) ([]transfer.Row, error) {
	p := transfer.NewPage(n)
	for _, name := range transfer.CounterNames() {
		var last uint64
		if err := s.reads.QueryRowContext(ctx, "SELECT coalesce((SELECT seq FROM last WHERE name = ?), 0)",
			sequence[name]).Scan(&last); err != nil {
			return nil, err
		}
		if r := transfer.CounterRow(name, last); string(r.Key) > string(after) && !p.Add(r) {
			break
		}
	}
	return p.Rows, nil
}

func scanTokenRow(rows *sql.Rows) (transfer.Row, error) {
	var key, data []byte
	var spent string
	err := rows.Scan(&key, &spent, &data)
	if err != nil || len(key) != len(driver.Key{}) {
		return transfer.Row{}, errors.Join(fmt.Errorf("a token has a key of %d bytes", len(key)), err)
	}
	t, err := readToken(driver.Key(key), spent, data)
	return transfer.TokenRow(t), err
}

func scanRevocationRow(rows *sql.Rows) (transfer.Row, error) {
	r, err := scanRevocation(rows)
	return transfer.RevocationRow(r), err
}

func scanUsageRow(rows *sql.Rows) (transfer.Row, error) {
	var c driver.Count
	var daily bool
	var at string
	err := rows.Scan(&c.AppID, &daily, &at, &c.Product, &c.Calls, &c.Errors)
	if err == nil {
		c.At, err = when(at)
	}
	return transfer.UsageRow(c, daily), err
}

func scanBatchRow(rows *sql.Rows) (transfer.Row, error) {
	var b driver.Batch
	var seq string
	err := rows.Scan(&b.Node, &seq)
	if err == nil {
		b.Seq, err = strconv.ParseUint(seq, 10, 64)
	}
	return transfer.BatchRow(b), err
}

func scanRecordRow(rows *sql.Rows) (transfer.Row, error) {
	r, err := scanRecord(rows)
	return transfer.RecordRow(r), err
}

func scanDocRow(rows *sql.Rows) (transfer.Row, error) {
	d, err := scanDoc(rows)
	return transfer.DocRow(d), err
}
