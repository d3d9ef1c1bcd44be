package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/rowsum"
)

// Get returns one document.
func (s *Store) Get(ctx context.Context, kind, id string) (d driver.Doc, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) error {
		key := join(kind, id)
		value, err := docRows(tx).find(tx, key)
		if err != nil {
			return err
		}
		if value == nil {
			return driver.ErrNotFound
		}
		d = decodeDoc(key, value)
		return nil
	})
	return d, err
}

// List returns a page of the documents with an entry in span, a document once for each
// of its entries there. A page with a damaged row fails: whoever reads it may take what is not there for absent.
func (s *Store) List(ctx context.Context, kind string, span driver.Span,
	n int) (page []driver.Doc, next string, err error) {
	err = s.view(ctx, func(tx *bbolt.Tx) (err error) {
		page, next, err = list(tx, kind, span, n)
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return page, next, nil
}

func list(tx *bbolt.Tx, kind string, span driver.Span, n int) (page []driver.Doc, next string, err error) {
	docs := docRows(tx)
	within := join(kind)
	from, to := append(join(kind), span.From...), append(join(kind), span.To...)
	c := bucket(tx, indexBucket).Cursor()
	front, at := seek(c, from)
	if front.key != nil { // one that was damaged may lie in front of the span, or behind it
		if _, _, err := behindEntry(tx, docs, front.key); err != nil {
			return nil, "", err
		}
	}
	last := []byte(nil)
	for place := at.key; place != nil; place, _ = c.Next() {
		key, value, err := behindEntry(tx, docs, place)
		if err != nil {
			return nil, "", err
		}
		switch {
		case bytes.Compare(place, to) >= 0:
			return page, "", nil
		case len(page) == n:
			return page, string(place[len(within):]), nil
		case bytes.Compare(place, from) < 0, last != nil && bytes.Compare(place, last) <= 0:
			return nil, "", damagedRow(indexBucket, place)
		}
		if value, err = openDoc(tx, key, value); err != nil {
			return nil, "", err
		}
		page, last = append(page, decodeDoc(key, value)), place
	}
	return page, "", nil
}

// behindEntry returns the key of the document that an entry of the index leads to, and its row as it is stored. It
// fails if the document is not there, or does not have the entry.
func behindEntry(tx *bbolt.Tx, docs keyed, place []byte) (key, value []byte, err error) {
	kind, rest, _ := bytes.Cut(place, []byte{0})
	entry, id, _ := bytes.Cut(rest, separator)
	key = append(append(append(append(make([]byte, 0, len(place)+1), kind...), 0), id...), 0)
	if value = docs.Get(key); value == nil || !hasEntry(value, entry) {
		if value != nil {
			if _, err := docs.open(tx, key, value); err != nil {
				return nil, nil, err
			}
		}
		return nil, nil, damagedRow(indexBucket, place)
	}
	return key, value, nil
}

var separator = []byte(driver.Separator)

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
// eight bytes for the version, and has room for a sum, which covers the version too.
type docRow struct {
	driver.Doc
	key, value []byte
}

func encodeDoc(d driver.Doc) docRow {
	size := 8 + timeSize + 2 + len(d.Data) + rowsum.TextSize
	for _, entry := range d.Index {
		size += len(entry) + 2
	}
	value := appendTime(appendNumber(make([]byte, 0, size), 0), d.ExpiresAt)
	value = binary.AppendUvarint(value, uint64(len(d.Index)))
	for _, entry := range d.Index {
		value = appendText(value, entry)
	}
	r := docRow{Doc: d, key: join(d.Kind, d.ID), value: append(value, d.Data...)}
	r.Index, r.Data = slices.Clone(d.Index), nil
	return r
}

// put writes the row, whose version it has by now, with its sum. was is where the sum of the row before is.
func (r docRow) put(tx *bbolt.Tx, was sumPlace) error {
	value := r.value
	if sumGoesWithin(value) {
		value = rowsum.AppendText(value, rowSum(docSeed, r.key, value), rowsum.Behind)
		if was == sumBeside {
			if err := dropSums(tx, sumsKey(docSums, r.key)); err != nil {
				return err
			}
		}
	} else if err := putDocSum(tx, r.key, value); err != nil {
		return err
	}
	return bucket(tx, docsBucket).Put(r.key, value)
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
	stored, err := docRows(tx).find(tx, r.key)
	if err != nil {
		return err
	}
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
		stored, was, err := openDocForm(tx, r.key, bucket(tx, docsBucket).Get(r.key)) // inTheWay has found it
		if err != nil {
			return err
		}
		if !r.Deleted && r.staysInPlace(stored) {
			return r.put(tx, was)
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
func (r docRow) staysInPlace(stored []byte) bool {
	d, _ := decodeHead(r.key, stored)
	return slices.Equal(d.Index, r.Index) && d.ExpiresAt.Equal(r.ExpiresAt)
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
	return r.put(tx, noSum)
}

// removeDoc removes a stored document from everywhere.
func removeDoc(tx *bbolt.Tx, key []byte) error {
	docs, index := bucket(tx, docsBucket), bucket(tx, indexBucket)
	stored, was, err := openDocForm(tx, key, docs.Get(key))
	if err != nil {
		return err
	}
	d, _ := decodeHead(key, stored)
	for _, entry := range d.Index {
		if err := index.Delete(indexKey(d, entry)); err != nil {
			return err
		}
	}
	if err := dropEnd(tx, d.ExpiresAt, aDoc, key); err != nil {
		return err
	}
	if was == sumBeside {
		if err := dropSums(tx, sumsKey(docSums, key)); err != nil {
			return err
		}
	}
	return docs.Delete(key)
}

func indexKey(d driver.Doc, entry string) []byte {
	return append(join(d.Kind), entry+driver.Separator+d.ID...)
}
