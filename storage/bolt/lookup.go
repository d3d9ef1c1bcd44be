package bolt

import (
	"bytes"
	"cmp"

	"go.etcd.io/bbolt"
)

// rowsOf says how the rows of a bucket are checked.
type rowsOf struct {
	table string
	open  func(tx *bbolt.Tx, key, value []byte) (body []byte, err error)
	wants func(tx *bbolt.Tx, key []byte) (bool, error) // whether there is a sum of its own for a key; nil: there is none
}

// keyed is a bucket whose rows are found by their keys.
//
// A damaged key hides its row, and a search by halves that meets it may miss other rows too. So absence is proven: the
// rows around the place where a key would be are looked at, and it is between them.
type keyed struct {
	*bbolt.Bucket
	*rowsOf
}

var (
	ofTokens      = &rowsOf{tokensBucket, within(openToken), nil}
	ofRevocations = &rowsOf{revocationsBucket, within(openRevocation), nil}
	ofUsage       = &rowsOf{usageBucket, within(openCount), nil}
	ofBatches     = &rowsOf{batchesBucket, within(openBatch), nil}
	ofAudit       = &rowsOf{auditBucket, openRecord, wantsRecord}
	ofDocs        = &rowsOf{docsBucket, openDoc, wantsDoc}
)

// within opens rows that have their sum within them.
func within(open func(key, value []byte) ([]byte, error)) func(*bbolt.Tx, []byte, []byte) ([]byte, error) {
	return func(_ *bbolt.Tx, key, value []byte) ([]byte, error) { return open(key, value) }
}

func openRecord(tx *bbolt.Tx, key, value []byte) ([]byte, error) {
	return value, auditSumsOf(tx).check(key, value)
}

func tokenRows(tx *bbolt.Tx) keyed      { return keyed{bucket(tx, tokensBucket), ofTokens} }
func revocationRows(tx *bbolt.Tx) keyed { return keyed{bucket(tx, revocationsBucket), ofRevocations} }
func countRows(tx *bbolt.Tx) keyed      { return keyed{bucket(tx, usageBucket), ofUsage} }
func batchRows(tx *bbolt.Tx) keyed      { return keyed{bucket(tx, batchesBucket), ofBatches} }
func auditRows(tx *bbolt.Tx) keyed      { return keyed{bucket(tx, auditBucket), ofAudit} }
func docRows(tx *bbolt.Tx) keyed        { return keyed{bucket(tx, docsBucket), ofDocs} }

// find returns the row of a key without its sum; nil: there is none. The key stays on the caller's stack.
func (k keyed) find(tx *bbolt.Tx, key []byte) (body []byte, err error) {
	c := k.Cursor()
	at, value := c.Seek(key)
	if bytes.Equal(at, key) {
		return k.open(tx, at, value)
	}
	return nil, k.absent(tx, c, key, at, value)
}

// absent fails unless there is no row of a key; c is where Seek has left it, on next.
func (k keyed) absent(tx *bbolt.Tx, c *bbolt.Cursor, key, next, value []byte) error {
	ordered := next == nil || bytes.Compare(next, key) > 0
	sound := next == nil || k.sound(tx, next, value)
	last, value := before(c)
	if last != nil {
		ordered = ordered && bytes.Compare(last, key) < 0
		sound = sound && k.sound(tx, last, value)
	}
	switch {
	case sound && ordered:
		if k.wants != nil {
			key := bytes.Clone(key)
			if wanted, err := k.wants(tx, key); err != nil || wanted {
				return cmp.Or(err, damagedRow(k.table, key))
			}
		}
		return nil
	case sound: // what leads to the page is damaged
		return damagedRow(k.table, bytes.Clone(key))
	}
	return k.doubt(tx, bytes.Clone(key))
}

// sound reports whether a row is under the key that it was written under, as far as it is known.
func (k keyed) sound(tx *bbolt.Tx, key, value []byte) bool {
	body, err := k.open(tx, key, value)
	if err == nil && k.table == docsBucket && len(body) == len(value) { // the sum stands elsewhere, or nowhere
		_, at, err := openDocForm(tx, key, value)
		data, _ := dataOf(body)
		return err == nil && (at == sumBeside || isJSON(data))
	}
	return err == nil
}

// around is more rows than a page has.
const around = 2048

// doubt looks for a key among the rows around its place, one of which is damaged. It fails if the row is there after
// all, or was written under this key. So one damaged row does not hide others, and others can be written beside it.
func (k keyed) doubt(tx *bbolt.Tx, key []byte) error {
	for _, step := range []func(*bbolt.Cursor) (key, value []byte){(*bbolt.Cursor).Next, (*bbolt.Cursor).Prev} {
		c := k.Cursor()
		at, value := c.Seek(key)
		if at == nil {
			at, value = before(c)
		}
		for range around {
			if at == nil {
				break
			}
			if bytes.Equal(at, key) || !k.sound(tx, at, value) && k.sound(tx, key, value) {
				return damagedRow(k.table, at)
			}
			at, value = step(c)
		}
	}
	return nil
}

// walk hands over the rows of a bucket from a key on, until each returns false, and fails at one that is damaged. The
// row in front of the first and the one behind the last are looked at too: they may have been among them.
func walk(b *bbolt.Bucket, table string, from []byte, check func(key, value []byte) error,
	each func(key, value []byte) (more bool)) error {
	c := b.Cursor()
	front, at := seek(c, from)
	if front.key != nil {
		if err := check(front.key, front.value); err != nil {
			return err
		}
		if bytes.Compare(front.key, from) >= 0 {
			return damagedRow(table, front.key)
		}
	}
	key, value := at.key, at.value
	for last := []byte(nil); key != nil; key, value = c.Next() {
		if err := check(key, value); err != nil {
			return err
		}
		if bytes.Compare(key, from) < 0 || last != nil && bytes.Compare(key, last) <= 0 {
			return damagedRow(table, key)
		}
		if !each(key, value) {
			return nil
		}
		last = key
	}
	return nil
}

// before returns the row in front of where Seek has left a cursor. Last is no way to it: it never returns where what
// a transaction has removed was all there is. Pages that the transaction has emptied are passed over, a few of them.
func before(c *bbolt.Cursor) (key, value []byte) {
	tries := 1
	if c.Bucket().Writable() {
		tries = 8
	}
	for range tries {
		if key, value = c.Prev(); key != nil {
			break
		}
	}
	return key, value
}

// row is one row of a bucket as it is stored; a nil key: there is none.
type row struct{ key, value []byte }

// seek goes to the first row from a key on, and also returns the one in front of it.
func seek(c *bbolt.Cursor, from []byte) (front, at row) {
	at.key, at.value = c.Seek(from)
	front.key, front.value = before(c)
	switch {
	case at.key == nil:
	case front.key == nil:
		c.First()
	default:
		c.Next()
	}
	return front, at
}
