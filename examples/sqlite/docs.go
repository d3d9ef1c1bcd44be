package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"

	"github.com/keystile/keystile/storage/driver"
)

const docColumns = "doc.kind, doc.id, version, ends, entries, data"

func scanDoc(row scanner, more ...any) (d driver.Doc, err error) {
	var ends string
	var entries []byte
	if err := found(row.Scan(append([]any{&d.Kind, &d.ID, &d.Version, &ends, &entries, &d.Data},
		more...)...)); err != nil {
		return driver.Doc{}, err
	}
	if err := json.Unmarshal(entries, &d.Index); err != nil {
		return driver.Doc{}, err
	}
	d.ExpiresAt, err = when(ends)
	return d, err
}

// Get implements driver.Backend.
func (s *Store) Get(ctx context.Context, kind, id string) (driver.Doc, error) {
	return scanDoc(s.reads.QueryRowContext(ctx, "SELECT "+docColumns+" FROM doc WHERE kind = ? AND id = ?", kind, id))
}

// List implements driver.Backend. It reads one more than n, where the next page begins.
func (s *Store) List(ctx context.Context, kind string, span driver.Span,
	n int) (docs []driver.Doc, next string, err error) {
	return list(ctx, s.reads, kind, span, n)
}

// querier is a database, or a transaction in it.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

func list(ctx context.Context, db querier, kind string, span driver.Span,
	n int) (docs []driver.Doc, next string, err error) {
	rows, err := db.QueryContext(ctx, "SELECT "+docColumns+", place FROM place JOIN doc USING (kind, id) WHERE kind = ? "+
		"AND place >= ? AND place < ? ORDER BY place LIMIT ?",
		kind, span.From, span.To, n+1)
	if err != nil {
		return nil, "", err
	}
	defer rows.Close()
	for rows.Next() {
		var place string
		d, err := scanDoc(rows, &place)
		if err != nil {
			return nil, "", err
		}
		if len(docs) == n {
			return docs, place, nil
		}
		docs = append(docs, d)
	}
	return docs, "", rows.Err()
}

// Gather implements driver.Gatherer, which an adapter may leave out. A transaction is one view of the store.
func (s *Store) Gather(ctx context.Context, asks ...driver.Ask) (all []driver.Answer, err error) {
	tx, err := s.reads.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	for _, ask := range asks {
		var a driver.Answer
		if len(ask.IDs) > 0 {
			a.Docs, err = named(ctx, tx, ask.Kind, ask.IDs)
		} else if ask.N > 0 {
			a.Docs, a.Next, err = list(ctx, tx, ask.Kind, ask.Span, ask.N)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, a)
	}
	return all, nil
}

// named returns the documents that have these ids.
func named(ctx context.Context, db querier, kind string, ids []string) (docs []driver.Doc, err error) {
	// JSON would change it
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !driver.ValidName(id) })
	asked, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, "SELECT "+docColumns+" FROM doc WHERE kind = ? AND id IN (SELECT value FROM "+
		"json_each(?)) ORDER BY id", kind, string(asked))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		d, err := scanDoc(rows)
		if err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, rows.Err()
}

// Put implements driver.Backend.
func (s *Store) Put(ctx context.Context, docs ...driver.Doc) (version int64, err error) {
	if err := driver.CheckPut(docs...); err != nil || len(docs) == 0 {
		return 0, err
	}
	docs = slices.Clone(docs)
	for i := range docs {
		docs[i].Index, docs[i].Data = slices.Clone(docs[i].Index), slices.Clone(docs[i].Data)
	}
	err = s.write(ctx, func(x *step) error {
		if version, err = x.next("version"); err != nil {
			return err
		}
		for _, d := range docs {
			if err := x.put(d, version); err != nil {
				return err
			}
		}
		return nil
	})
	return version, err
}

// put writes one document, if it is as its writer read it.
func (x *step) put(d driver.Doc, version int64) error {
	var stored int64 // a missing document has version 0
	if err := found(x.row("SELECT version FROM doc WHERE kind = ? AND id = ?", d.Kind, d.ID).Scan(&stored)); err != nil &&
		!errors.Is(err, driver.ErrNotFound) {
		return err
	}
	switch {
	case d.Version == 0 && stored != 0:
		return &driver.PutError{Kind: d.Kind, ID: d.ID, Err: driver.ErrExists}
	case d.Version != stored:
		return &driver.PutError{Kind: d.Kind, ID: d.ID, Err: driver.ErrConflict}
	case d.Deleted:
		_, err := x.exec("DELETE FROM doc WHERE kind = ? AND id = ?", d.Kind, d.ID)
		return err
	}
	return x.store(d, version)
}

// store writes a document with its places, over one that may be there.
func (x *step) store(d driver.Doc, version int64) error {
	entries, err := json.Marshal(d.Index)
	if err != nil {
		return err
	}
	if _, err := x.exec("INSERT INTO doc VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET version = "+
		"excluded.version, ends = excluded.ends, entries = excluded.entries, data = excluded.data",
		d.Kind, d.ID, version, text(d.ExpiresAt), entries, d.Data); err != nil {
		return err
	}
	if _, err := x.exec("DELETE FROM place WHERE kind = ? AND id = ?", d.Kind, d.ID); err != nil {
		return err
	}
	for _, entry := range d.Index {
		if _, err := x.exec("INSERT OR IGNORE INTO place VALUES (?, ?, ?)", d.Kind, entry+driver.Separator+d.ID,
			d.ID); err != nil {
			return err
		}
	}
	return nil
}
