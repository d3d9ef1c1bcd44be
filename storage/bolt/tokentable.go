package bolt

import (
	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/bolt/internal/tokenlog"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/rowsum"
)

// tokenTable is the table of tokens as a job of tokens sees and changes it: in the file, or in front of it.
type tokenTable struct {
	tx    *bbolt.Tx
	draft *draft // what goes to the log; nil: changes go to the file, which has everything
}

// find returns the row of a token without its sum; nil: there is none.
func (t tokenTable) find(key driver.Key) (body []byte, err error) {
	if t.draft != nil {
		if value := t.draft.value(key); value != nil {
			return openToken(key[:], value)
		}
	}
	return tokenRows(t.tx).find(t.tx, key[:])
}

// taken reports whether a key of these rows is in use, or appears twice among them.
func (t tokenTable) taken(rows []tokenRow) (bool, error) {
	seen := make(map[driver.Key]bool, len(rows))
	for _, r := range rows {
		there, err := t.find(r.key)
		if err != nil || there != nil || seen[r.key] {
			return true, err
		}
		seen[r.key] = true
	}
	return false, nil
}

// add writes rows that are not there.
func (t tokenTable) add(rows []tokenRow) error {
	for _, r := range rows {
		if err := t.put(tokenlog.Row{Key: r.key, New: true, Value: r.value}); err != nil {
			return err
		}
	}
	return nil
}

// replace writes a row that is there, of a token that ends when it did.
func (t tokenTable) replace(key driver.Key, value []byte) error {
	return t.put(tokenlog.Row{Key: key, Value: value})
}

func (t tokenTable) put(r tokenlog.Row) error {
	if t.draft != nil {
		t.draft.put(r)
		return nil
	}
	if err := bucket(t.tx, tokensBucket).Put(r.Key[:], r.Value); err != nil || !r.New {
		return err
	}
	body, _, _ := rowsum.CutBinary(r.Value)
	end, _ := cutTime(body[3*timeSize:]) // as parts has it
	return noteEnd(t.tx, end, aToken, r.Key[:])
}

// draft holds what the jobs of one batch add to the log.
type draft struct {
	log    map[driver.Key]tokenlog.Row // what the log has
	rows   []tokenlog.Row              // in the order in which they were written
	values map[driver.Key][]byte       // of rows, the last one of each key
}

func (d *draft) put(r tokenlog.Row) {
	d.rows = append(d.rows, r)
	d.values[r.Key] = r.Value
}

// value returns the row of a token that is not in the file as it is now; nil: there is none.
func (d *draft) value(key driver.Key) []byte {
	if value := d.values[key]; value != nil {
		return value
	}
	return d.log[key].Value
}
