package memory

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/transfer"
)

var _ transfer.Adapter = (*Store)(nil)

// Rows returns a page of a table.
func (s *Store) Rows(ctx context.Context, table transfer.Table, after []byte, n int) (page []transfer.Row, err error) {
	err = s.step(ctx, func() error {
		rows, err := s.rows(table)
		if err != nil {
			return err
		}
		rows = slices.DeleteFunc(rows, func(r transfer.Row) bool { return after != nil && bytes.Compare(r.Key, after) <= 0 })
		slices.SortFunc(rows, func(a, b transfer.Row) int { return bytes.Compare(a.Key, b.Key) })
		p := transfer.NewPage(n)
		for _, r := range rows {
			if !p.Add(r) {
				break
			}
		}
		page = p.Rows
		return nil
	})
	return page, err
}

// rows returns a whole table, in no order.
func (s *Store) rows(table transfer.Table) (rows []transfer.Row, err error) {
	add := func(r transfer.Row) { rows = append(rows, r) }
	switch table {
	case transfer.Counters:
		add(transfer.CounterRow(transfer.LastRecord, s.appended))
		add(transfer.CounterRow(transfer.LastRevocation, s.revoked))
		add(transfer.CounterRow(transfer.LastVersion, uint64(s.version)))
	case transfer.Tokens:
		for t := range maps.Values(s.tokens) {
			add(transfer.TokenRow(t))
		}
	case transfer.Revocations:
		for r := range maps.Values(s.revocations) {
			add(transfer.RevocationRow(r))
		}
	case transfer.Usage:
		for r, c := range s.usage {
			add(transfer.UsageRow(c, r.daily))
		}
	case transfer.Batches:
		for node, seq := range s.batches {
			add(transfer.BatchRow(driver.Batch{Node: node, Seq: seq}))
		}
	case transfer.Audit:
		for _, r := range s.records {
			add(transfer.RecordRow(r))
		}
	case transfer.Documents:
		for d := range maps.Values(s.docs) {
			add(transfer.DocRow(d))
		}
	default:
		return nil, fmt.Errorf("%w: no table %q", driver.ErrInvalid, table)
	}
	return rows, nil
}

// Load reads all rows and keys before it changes anything.
func (s *Store) Load(ctx context.Context, table transfer.Table, rows []transfer.Row, gone [][]byte) error {
	return s.step(ctx, func() error {
		var changes []func()
		for _, key := range gone {
			change, err := s.unload(table, key)
			if err != nil {
				return err
			}
			changes = append(changes, change)
		}
		for _, r := range rows {
			change, err := s.load(table, r)
			if err != nil {
				return err
			}
			changes = append(changes, change)
		}
		for _, change := range changes {
			change()
		}
		return nil
	})
}

// load returns the change that a row makes.
func (s *Store) load(table transfer.Table, r transfer.Row) (change func(), err error) {
	switch table {
	case transfer.Counters:
		name, last, err := r.Counter()
		return func() { s.setCounter(name, last) }, err
	case transfer.Tokens:
		t, err := r.Token()
		return func() { s.tokens[t.Key] = t }, err
	case transfer.Revocations:
		r, err := r.Revocation()
		return func() {
			maps.DeleteFunc(s.revocations, func(_ name, other driver.Revocation) bool { return other.Seq == r.Seq })
			s.revocations[name{r.Kind, r.ID}] = r
		}, err
	case transfer.Usage:
		c, daily, err := r.Usage()
		return func() { s.usage[row{c.AppID, c.Product, daily, c.At}] = c }, err
	case transfer.Batches:
		b, err := r.Batch()
		return func() { s.batches[b.Node] = b.Seq }, err
	case transfer.Audit:
		r, err := r.Record()
		return func() {
			s.dropRecord(r.Seq)
			s.records = slices.Insert(s.records, s.through(r.Seq), r)
		}, err
	case transfer.Documents:
		d, err := r.Doc()
		return func() { s.docs[name{d.Kind, d.ID}] = d }, err
	}
	return nil, fmt.Errorf("%w: no table %q", driver.ErrInvalid, table)
}

// unload returns the change that removes the row of a key.
func (s *Store) unload(table transfer.Table, key []byte) (change func(), err error) {
	switch table {
	case transfer.Tokens:
		k, err := transfer.TokenKey(key)
		return func() { delete(s.tokens, k) }, err
	case transfer.Revocations:
		kind, id, err := transfer.RevocationKey(key)
		return func() { delete(s.revocations, name{kind, id}) }, err
	case transfer.Usage:
		app, daily, at, product, err := transfer.UsageKey(key)
		return func() { delete(s.usage, row{app, product, daily, at}) }, err
	case transfer.Batches:
		node, err := transfer.BatchKey(key)
		return func() { delete(s.batches, node) }, err
	case transfer.Audit:
		seq, err := transfer.RecordKey(key)
		return func() { s.dropRecord(seq) }, err
	case transfer.Documents:
		kind, id, err := transfer.DocKey(key)
		return func() { delete(s.docs, name{kind, id}) }, err
	}
	return nil, fmt.Errorf("%w: nothing can be removed from the table %q", driver.ErrInvalid, table)
}

func (s *Store) setCounter(name string, last uint64) {
	switch name {
	case transfer.LastRecord:
		s.appended = last
	case transfer.LastRevocation:
		s.revoked = last
	case transfer.LastVersion:
		s.version = int64(last)
	}
}

func (s *Store) dropRecord(seq uint64) {
	s.records = slices.DeleteFunc(s.records, func(r driver.Record) bool { return r.Seq == seq })
}
