package postgres

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/keystile/keystile/storage/driver"
)

// Get returns one document.
func (s *Store) Get(ctx context.Context, kind, id string) (d driver.Doc, err error) {
	if !driver.ValidName(kind) || !driver.ValidName(id) {
		return d, cmp.Or(s.idle(ctx), driver.ErrNotFound)
	}
	err = s.run(ctx, readDoc, func(ctx context.Context, c conn, _ bool) error {
		d = driver.Doc{Kind: kind}
		var ends []byte
		if err := c.row(ctx, readDoc, []any{kind, id}, &d.ID, &d.Version, &ends, &d.Index, &d.Data); err != nil {
			d = driver.Doc{}
			return err
		}
		return read(ends, &d.ExpiresAt)
	})
	return d, err
}

// List returns a page of the documents with an entry in span.
func (s *Store) List(ctx context.Context, kind string, span driver.Span,
	n int) (docs []driver.Doc, next string, err error) {
	args := []any{kind, []byte(span.From), []byte(span.To), n + 1}
	err = s.run(ctx, listDocs, func(ctx context.Context, c conn, _ bool) (err error) {
		var last []byte
		docs, err = collect(ctx, c, listDocs, args, func(row pgx.Rows) (driver.Doc, error) {
			d := driver.Doc{Kind: kind}
			var ends []byte
			err := row.Scan(&last, &d.ID, &d.Version, &ends, &d.Index, &d.Data)
			if err == nil {
				err = read(ends, &d.ExpiresAt)
			}
			return d, err
		})
		if len(docs) > n {
			docs, next = docs[:n:n], string(last)
		}
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return docs, next, nil
}

// Put is one call of a function in the database: it sees all documents before it writes the first.
func (s *Store) Put(ctx context.Context, docs ...driver.Doc) (version int64, err error) {
	if err := driver.CheckPut(docs...); err != nil {
		return 0, err
	}
	if len(docs) == 0 {
		return 0, s.idle(ctx)
	}
	docs = slices.Clone(docs)
	slices.SortFunc(docs, func(a, b driver.Doc) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	call := drawn(nil)
	args := append(s.argumentsOf(docs), call)
	err = s.run(ctx, putDocs, func(ctx context.Context, c conn, again bool) (err error) {
		defer func() {
			if again && verdict(err) { // perhaps about the work of an attempt whose answer was lost
				version, err = c.ownPut(ctx, docs, call)
			}
		}()
		err = c.row(ctx, putDocs, args, &version)
		if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) && refused.Code == createdMeanwhile {
			if n, failed := strconv.Atoi(refused.Detail); failed == nil && n >= 1 && n <= len(docs) {
				return &driver.PutError{Kind: docs[n-1].Kind, ID: docs[n-1].ID, Err: driver.ErrExists}
			}
		}
		if err != nil || version > 0 {
			return err
		}
		d := docs[-version-1]
		inTheWay := &driver.PutError{Kind: d.Kind, ID: d.ID, Err: driver.ErrConflict}
		if d.Version == 0 {
			inTheWay.Err = driver.ErrExists
		}
		return inTheWay
	})
	if err != nil {
		return 0, err
	}
	return version, nil
}

// ownPut returns the version of what a call has put. It is errLost where nothing tells whether that
// happened: who has overwritten or removed a document of it meanwhile has removed the trace too.
func (c conn) ownPut(ctx context.Context, docs []driver.Doc, call []byte) (version int64, err error) {
	for _, d := range docs {
		if d.Deleted {
			continue
		}
		err := c.row(ctx, ownDoc, []any{d.Kind, d.ID, call}, &version)
		if !errors.Is(err, driver.ErrNotFound) {
			return version, err
		}
	}
	return 0, errLost
}

// argumentsOf turns documents into the arguments of the function.
func (s *Store) argumentsOf(docs []driver.Doc) []any {
	epoch := slices.ContainsFunc(docs, func(d driver.Doc) bool { return d.Kind == driver.KindEpoch })
	c := docColumnsOf(docs)
	return []any{c.kinds, c.ids, c.versions, c.deleted, c.ends, c.data, c.entryOf, c.entries, s.hint(epoch)}
}

// docArrays are documents, an array for each column. Index entries are in two arrays of their own:
// the number of the document, from 1, and the entry.
type docArrays struct {
	kinds, ids []string
	versions   []int64
	deleted    []bool
	ends, data [][]byte
	entryOf    []int32
	entries    []string
}

func docColumnsOf(docs []driver.Doc) (c docArrays) {
	for i, d := range docs {
		c.kinds, c.ids, c.versions, c.deleted = append(c.kinds, d.Kind), append(c.ids, d.ID), append(c.versions, d.Version),
			append(c.deleted, d.Deleted)
		c.ends, c.data = append(c.ends, end(d.ExpiresAt)), append(c.data, notNull(d.Data))
		for _, entry := range d.Index {
			c.entryOf, c.entries = append(c.entryOf, int32(i+1)), append(c.entries, entry)
		}
	}
	return c
}
