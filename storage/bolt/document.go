package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
)

// Get returns one document.
func (s *Store) Get(ctx context.Context, kind, id string) (d driver.Doc, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		key := join(kind, id)
		value := bucket(tx, docsBucket).Get(key)
		if value == nil {
			return driver.ErrNotFound
		}
		d = decodeDoc(key, value)
		return nil
	})
	return d, err
}

// List returns a page of the documents with an entry in span, a document once for each
// of its entries there.
func (s *Store) List(ctx context.Context, kind string, span driver.Span, n int) (page []driver.Doc, next string, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		page, next = list(tx, kind, span, n)
		return nil
	})
	return page, next, err
}

func list(tx *bbolt.Tx, kind string, span driver.Span, n int) (page []driver.Doc, next string) {
	docs := bucket(tx, docsBucket)
	within := join(kind)
	from, to := append(join(kind), span.From...), append(join(kind), span.To...)
	c := bucket(tx, indexBucket).Cursor()
	for place, _ := c.Seek(from); place != nil && bytes.Compare(place, to) < 0; place, _ = c.Next() {
		place := string(place[len(within):])
		if len(page) == n {
			return page, place
		}
		_, id, _ := strings.Cut(place, driver.Separator)
		key := join(kind, id)
		page = append(page, decodeDoc(key, docs.Get(key)))
	}
	return page, ""
}

// Put looks at all documents before it writes the first.
func (s *Store) Put(ctx context.Context, docs ...driver.Doc) (int64, error) {
	if err := driver.CheckPut(docs...); err != nil || len(docs) == 0 {
		return 0, err
	}
	rows := make([]docRow, len(docs))
	for i, d := range docs {
		rows[i] = encodeDoc(d)
	}
	var version int64
	err := s.write(ctx, func(tx *bbolt.Tx) error {
		for _, r := range rows {
			if err := r.inTheWay(tx); err != nil {
				return err
			}
		}
		next, err := bucket(tx, docsBucket).NextSequence()
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := r.write(tx, next); err != nil {
				return err
			}
		}
		version = int64(next)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return version, nil
}

// docRow is a document as it is stored, encoded by its caller. Its value begins with
// eight bytes for the version.
type docRow struct {
	driver.Doc
	key, value []byte
}

func encodeDoc(d driver.Doc) docRow {
	value := appendTime(appendNumber(nil, 0), d.ExpiresAt)
	value = binary.AppendUvarint(value, uint64(len(d.Index)))
	for _, entry := range d.Index {
		value = appendText(value, entry)
	}
	r := docRow{Doc: d, key: join(d.Kind, d.ID), value: append(value, d.Data...)}
	r.Index, r.Data = slices.Clone(d.Index), nil
	return r
}

func decodeDoc(key, value []byte) driver.Doc {
	d, data := decodeHead(key, value)
	d.Data = bytes.Clone(data)
	return d
}

// decodeHead reads the head before the data.
func decodeHead(key, value []byte) (d driver.Doc, data []byte) {
	kind, id, _ := bytes.Cut(key, []byte{0})
	d.Kind, d.ID = string(kind), string(id[:len(id)-1])
	version, rest := cutNumber(value)
	d.Version = int64(version)
	d.ExpiresAt, rest = cutTime(rest)
	entries, n := binary.Uvarint(rest)
	rest = rest[n:]
	for range entries {
		var entry string
		entry, rest = cutText(rest)
		d.Index = append(d.Index, entry)
	}
	return d, rest
}

func (r docRow) inTheWay(tx *bbolt.Tx) error {
	stored := bucket(tx, docsBucket).Get(r.key)
	var version int64 // 0: it is not there
	if stored != nil {
		n, _ := cutNumber(stored)
		version = int64(n)
	}
	switch {
	case r.Version == version:
		return nil
	case r.Version == 0:
		return &driver.PutError{Kind: r.Kind, ID: r.ID, Err: driver.ErrExists}
	}
	return &driver.PutError{Kind: r.Kind, ID: r.ID, Err: driver.ErrConflict}
}

func (r docRow) write(tx *bbolt.Tx, version uint64) error {
	binary.BigEndian.PutUint64(r.value, version)
	if r.Version != 0 {
		if !r.Deleted && r.staysInPlace(tx) {
			return bucket(tx, docsBucket).Put(r.key, r.value)
		}
		if err := removeDoc(tx, r.key); err != nil {
			return err
		}
	}
	if r.Deleted {
		return nil
	}
	return r.insert(tx)
}

// staysInPlace reports whether the stored document has the same entries and end, so that only its value changes:
// counters do so with every write.
func (r docRow) staysInPlace(tx *bbolt.Tx) bool {
	stored, _ := decodeHead(r.key, bucket(tx, docsBucket).Get(r.key))
	return slices.Equal(stored.Index, r.Index) && stored.ExpiresAt.Equal(r.ExpiresAt)
}

// insert writes a document where none is.
func (r docRow) insert(tx *bbolt.Tx) error {
	index := bucket(tx, indexBucket)
	for _, entry := range r.Index {
		if err := index.Put(indexKey(r.Doc, entry), nil); err != nil {
			return err
		}
	}
	if err := noteEnd(tx, r.ExpiresAt, aDoc, r.key); err != nil {
		return err
	}
	return bucket(tx, docsBucket).Put(r.key, r.value)
}

// removeDoc removes a stored document from everywhere.
func removeDoc(tx *bbolt.Tx, key []byte) error {
	docs, index := bucket(tx, docsBucket), bucket(tx, indexBucket)
	d, _ := decodeHead(key, docs.Get(key))
	for _, entry := range d.Index {
		if err := index.Delete(indexKey(d, entry)); err != nil {
			return err
		}
	}
	if err := dropEnd(tx, d.ExpiresAt, aDoc, key); err != nil {
		return err
	}
	return docs.Delete(key)
}

func indexKey(d driver.Doc, entry string) []byte {
	return append(join(d.Kind), entry+driver.Separator+d.ID...)
}
