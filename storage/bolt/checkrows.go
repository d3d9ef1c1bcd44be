package bolt

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/rowsum"
)

// rowCheck reads every row of a file, and goes on behind one that is damaged.
type rowCheck struct {
	tx    *bbolt.Tx
	found Contents
	named []error // of the damaged rows
	more  int     // that are not named
}

// maxNamed bounds how many damaged rows are named.
const maxNamed = 100

func checkRows(tx *bbolt.Tx, found Contents) error {
	for _, name := range buckets {
		if tx.Bucket([]byte(name)) == nil {
			return fmt.Errorf("the bucket %s is not there", name)
		}
	}
	c := &rowCheck{tx: tx, found: found}
	c.about()
	c.each(tokensBucket, c.token)
	c.each(revocationsBucket, c.revocation)
	c.each(feedBucket, c.feed)
	c.each(docsBucket, c.doc)
	c.each(indexBucket, func(key, _ []byte) error { _, _, err := behindEntry(tx, docRows(tx), key); return err })
	c.each(endsBucket, func(key, _ []byte) error { return agrees(tx, key) })
	c.each(usageBucket, c.count)
	c.each(batchesBucket, c.batch)
	c.audit()
	c.sums()
	if c.more > 0 {
		c.named = append(c.named, fmt.Errorf("and %d more", c.more))
	}
	return errors.Join(c.named...)
}

// each calls check for each row of a bucket. A decoder may panic at a row that is cut off.
func (c *rowCheck) each(name string, check func(key, value []byte) error) {
	cursor := bucket(c.tx, name).Cursor()
	var last []byte
	for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
		err := recoverPanic(func() error { return check(key, value) })
		if errors.Is(err, errPanic) || err == nil && last != nil && bytes.Compare(key, last) <= 0 {
			err = damagedRow(name, key)
		}
		if err != nil {
			c.add(fmt.Errorf("%s: %w", name, err))
		}
		last = key
	}
}

func (c *rowCheck) add(err error) {
	if len(c.named) == maxNamed {
		c.more++
		return
	}
	c.named = append(c.named, err)
}

// unsummed counts a row that has no sum.
func (c *rowCheck) unsummed(summed bool) {
	if !summed {
		c.found[Unsummed]++
	}
}

// about looks at what says which format the file has.
func (c *rowCheck) about() {
	l, err := readLayout(c.tx)
	if err == nil && l.format > firstFormat && (l.format > ownFormat() || l.since != steps[l.format-firstFormat-1].since) {
		err = fmt.Errorf("the version that began with format %d is not %q", l.format, l.since)
	}
	if err != nil {
		c.add(err)
	}
}

func (c *rowCheck) token(key, value []byte) error {
	c.found["tokens"]++
	if len(key) != len(driver.Key{}) {
		return damagedRow(tokensBucket, key)
	}
	body, err := openToken(key, value)
	if err != nil {
		return err
	}
	_, _, form := rowsum.CutBinary(value)
	c.unsummed(form == rowsum.Whole)
	return c.noted(tokensBucket, aToken, key, body[3*timeSize:])
}

// noted looks that there is a note of the end of a row, which is at the beginning of body.
func (c *rowCheck) noted(table string, what byte, key, body []byte) error {
	end, _ := cutTime(body)
	if end.IsZero() || bucket(c.tx, endsBucket).Get(endKey(end, what, key)) != nil {
		return nil
	}
	return fmt.Errorf("%s ends, and no sweep would find it: its row in %s, or that in ends, is damaged",
		nameOf(table, key), table)
}

func (c *rowCheck) revocation(key, value []byte) error {
	c.found["revocations"]++
	body, summed, err := fixed(revocationsBucket, revocationSeed, revocationSize, key, value)
	if err != nil {
		return err
	}
	c.unsummed(summed)
	if !bytes.Equal(bucket(c.tx, feedBucket).Get(body[:8]), key) {
		return fmt.Errorf("the revocation %s is not in the feed", nameOf(revocationsBucket, key))
	}
	return c.noted(revocationsBucket, aRevocation, key, body[8+timeSize:])
}

func (c *rowCheck) feed(key, value []byte) error {
	_, err := revocationAt(c.tx, revocationRows(c.tx), key, value)
	return errors.Join(err, c.given(feedBucket, key))
}

// given looks that a number has been given by a bucket.
func (c *rowCheck) given(table string, number []byte) error {
	if last := bucket(c.tx, table).Sequence(); binary.BigEndian.Uint64(number) > last {
		return fmt.Errorf("%s is above the last number that was given: %d", nameOf(table, number), last)
	}
	return nil
}

func (c *rowCheck) doc(key, value []byte) error {
	kind, _, _ := bytes.Cut(key, []byte{0})
	c.found[string(kind)]++
	body, place, err := openDocForm(c.tx, key, value)
	if err != nil {
		return err
	}
	c.unsummed(place != noSum)
	d := decodeDoc(key, body)
	if record, sealed, has := bytes.Cut(d.Data, []byte("\n")); place == noSum && bytes.HasPrefix(record, []byte("{")) &&
		(!json.Valid(record) || has && !json.Valid(sealed)) {
		return fmt.Errorf("%s %q is not readable", d.Kind, d.ID)
	}
	for _, entry := range d.Index {
		want := indexKey(d, entry)
		if got, _ := bucket(c.tx, indexBucket).Cursor().Seek(want); !bytes.Equal(got, want) {
			return fmt.Errorf("%s %q is not in the index", d.Kind, d.ID)
		}
	}
	if last := bucket(c.tx, docsBucket).Sequence(); uint64(d.Version) > last {
		return fmt.Errorf("%s %q has version %d, and the last that was given is %d", d.Kind, d.ID, d.Version, last)
	}
	return c.noted(docsBucket, aDoc, key, body[8:])
}

func (c *rowCheck) count(key, value []byte) error {
	c.found["usage rows"]++
	_, summed, err := fixed(usageBucket, usageSeed, countSize, key, value)
	if err == nil {
		c.unsummed(summed)
	}
	return err
}

func (c *rowCheck) batch(key, value []byte) error {
	_, summed, err := fixed(batchesBucket, batchSeed, batchSize, key, value)
	if err == nil {
		c.unsummed(summed)
	}
	return err
}

func (c *rowCheck) audit() {
	sums := auditSumsOf(c.tx)
	c.each(auditBucket, func(key, value []byte) error {
		c.found["audit records"]++
		if err := sums.check(key, value); err != nil {
			return err
		}
		c.unsummed(sums.holds(binary.BigEndian.Uint64(key)))
		return c.given(auditBucket, key)
	})
}

// sums looks that the sums which stand for themselves are whole, and that the audit records are there that they are of.
func (c *rowCheck) sums() {
	if c.tx.Bucket([]byte(sumsBucket)) == nil {
		return
	}
	records := bucket(c.tx, auditBucket)
	oldest, _ := records.Cursor().First()
	c.each(sumsBucket, func(key, value []byte) error {
		sums := readSums(key, value)
		if sums == nil {
			return damagedRow(sumsBucket, key)
		}
		if key[0] == docSums && bucket(c.tx, docsBucket).Get(key[1:]) == nil {
			return damagedRow(docsBucket, key[1:])
		}
		if key[0] != auditSums || oldest == nil {
			return nil
		}
		for i := range uint64(len(sums) / 4) {
			seq := appendNumber(nil, binary.BigEndian.Uint64(key[1:])+i)
			if bytes.Compare(seq, oldest) > 0 && records.Get(seq) == nil {
				return fmt.Errorf("the audit record of %s is not there", nameOf(auditBucket, seq))
			}
		}
		return nil
	})
}
