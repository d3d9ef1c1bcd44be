package bolt

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/internal/rowsum"
)

// Rows that a version without sums would misread with a trailer have their sums in sumsBucket: audit records, whose
// bytes are what their chain is made of, and documents that are no JSON. The bucket is made with the first of them.
//
//	'a', Seq of the first    sums of the audit records of one Append, four bytes each; own sum
//	'd', key of the document    its version, its sum; own sum
const (
	auditSums = 'a'
	docSums   = 'd'
	ownSize   = 4
)

func sumsKey(what byte, key []byte) []byte { return append([]byte{what}, key...) }

// readSums returns what a row of sumsBucket holds; nil: it is damaged itself.
func readSums(key, value []byte) []byte {
	n := len(value) - ownSize
	if n <= 0 || binary.BigEndian.Uint32(value[n:]) != rowSum(sumsSeed, key, value[:n]) {
		return nil
	}
	return value[:n]
}

func putSums(tx *bbolt.Tx, key, value []byte) error {
	b, err := tx.CreateBucketIfNotExists([]byte(sumsBucket))
	if err != nil {
		return err
	}
	b.FillPercent = 0.9 // those of audit records grow at their end
	return b.Put(key, binary.BigEndian.AppendUint32(value, rowSum(sumsSeed, key, value)))
}

func dropSums(tx *bbolt.Tx, key []byte) error {
	if b := tx.Bucket([]byte(sumsBucket)); b != nil {
		return b.Delete(key)
	}
	return nil
}

// dropStaleSums removes the sums that a version without sums has left of documents that it has removed or written anew,
// and of records that it has removed. From then on every sum in the bucket is of something that must be there.
func dropStaleSums(tx *bbolt.Tx) error {
	b, err := tx.CreateBucketIfNotExists([]byte(sumsBucket))
	if err != nil {
		return err
	}
	var stale [][]byte
	docs := bucket(tx, docsBucket)
	c := b.Cursor()
	for key, value := c.Seek([]byte{docSums}); key != nil && key[0] == docSums; key, value = c.Next() {
		body := docs.Get(key[1:])
		if known, _ := docSumOf(key, value, body); body == nil || !known {
			stale = append(stale, bytes.Clone(key))
		}
	}
	for _, key := range stale {
		if err := b.Delete(key); err != nil {
			return err
		}
	}
	oldest, _ := bucket(tx, auditBucket).Cursor().First()
	if oldest == nil {
		return pruneSums(tx, bucket(tx, auditBucket).Sequence())
	}
	seq, _ := cutNumber(oldest)
	return pruneSums(tx, seq-1)
}

// checkBeside fails if a document is not there whose sum is in the bucket.
func checkBeside(tx *bbolt.Tx) error {
	b := tx.Bucket([]byte(sumsBucket))
	if b == nil {
		return nil
	}
	c := b.Cursor()
	for key, _ := c.Seek([]byte{docSums}); key != nil && key[0] == docSums; key, _ = c.Next() {
		if bucket(tx, docsBucket).Get(key[1:]) == nil {
			return damagedRow(docsBucket, key[1:])
		}
	}
	return nil
}

// docSumBeside looks for the sum of a document there, and whether it matches. A version without sums that has
// written the document since has given it another version, and everything else with it: its sum is unknown.
func docSumBeside(tx *bbolt.Tx, key, body []byte) (known, matches bool) {
	b := tx.Bucket([]byte(sumsBucket))
	if b == nil {
		return false, false
	}
	at := sumsKey(docSums, key)
	value := b.Get(at)
	if value == nil {
		return false, false
	}
	return docSumOf(at, value, body)
}

// docSumOf is docSumBeside of a row there.
func docSumOf(at, value, body []byte) (known, matches bool) {
	key := at[1:]
	value = readSums(at, value)
	if len(value) != 8+4 || len(body) < 8 {
		return true, false
	}
	sum := binary.BigEndian.Uint32(value[8:])
	if bytes.Equal(value[:8], body[:8]) {
		return true, sum == rowSum(docSeed, key, body)
	}
	// With the version that it had, it would match: then only the version was changed.
	if sum == rowsum.Of(rowSum(docSeed, key, value[:8]), body[8:]) {
		return true, false
	}
	return false, false
}

func putDocSum(tx *bbolt.Tx, key, body []byte) error {
	value := append(make([]byte, 0, 8+4+ownSize), body[:8]...)
	return putSums(tx, sumsKey(docSums, key), binary.BigEndian.AppendUint32(value, rowSum(docSeed, key, body)))
}

// auditRun finds the sums of audit records, those of one Append at a time.
type auditRun struct {
	cursor *bbolt.Cursor // nil: there are none
	last   uint64        // the last Seq that was given
	first  uint64
	sums   []byte
	read   bool
}

func auditSumsOf(tx *bbolt.Tx) *auditRun {
	a := &auditRun{last: bucket(tx, auditBucket).Sequence()}
	if b := tx.Bucket([]byte(sumsBucket)); b != nil {
		a.cursor = b.Cursor()
	}
	return a
}

func (a *auditRun) holds(seq uint64) bool {
	return a.read && seq >= a.first && seq-a.first < uint64(len(a.sums)/4)
}

// check looks whether an audit record is as it was written.
func (a *auditRun) check(key, value []byte) error {
	if len(key) != 8 || len(value) < timeSize {
		return damagedRow(auditBucket, key)
	}
	seq := binary.BigEndian.Uint64(key)
	known, err := a.wants(key)
	if err != nil {
		return err
	}
	if !known {
		if seq == 0 || seq > a.last {
			return damagedRow(auditBucket, key) // nobody was given that Seq
		}
		return nil // a version without sums has appended it
	}
	if binary.BigEndian.Uint32(a.sums[4*(seq-a.first):]) != rowSum(auditSeed, key, value) {
		return damagedRow(auditBucket, key)
	}
	return nil
}

// wants reports whether there is a sum of a Seq, so that its record must be there.
func (a *auditRun) wants(key []byte) (bool, error) {
	seq := binary.BigEndian.Uint64(key)
	if a.cursor != nil && !a.holds(seq) {
		if err := a.find(key); err != nil {
			return false, err
		}
	}
	return a.holds(seq), nil
}

// wantsRecord reports whether a record must be there: its sum is, and an older record.
func wantsRecord(tx *bbolt.Tx, key []byte) (bool, error) {
	a := auditSumsOf(tx)
	oldest, value := bucket(tx, auditBucket).Cursor().First()
	if oldest != nil && a.check(oldest, value) != nil {
		return true, nil // it may be the one
	}
	known, err := a.wants(key)
	return known && oldest != nil && bytes.Compare(key, oldest) > 0, err
}

func wantsDoc(tx *bbolt.Tx, key []byte) (bool, error) {
	b := tx.Bucket([]byte(sumsBucket))
	return b != nil && b.Get(sumsKey(docSums, key)) != nil, nil
}

// checkTrail checks the records of a walk, and that none is missing between two of them whose sum there is.
func checkTrail(tx *bbolt.Tx) func(key, value []byte) error {
	a, last := auditSumsOf(tx), uint64(0)
	return func(key, value []byte) error {
		if err := a.check(key, value); err != nil {
			return err
		}
		seq := binary.BigEndian.Uint64(key)
		if last > 0 && seq > last+1 {
			missing := appendNumber(nil, seq-1)
			if known, err := a.wants(missing); err != nil || known {
				return cmp.Or(err, damagedRow(auditBucket, missing))
			}
		}
		last = seq
		return nil
	}
}

// find reads the last run that begins at a Seq or before it.
func (a *auditRun) find(seq []byte) error {
	a.read = false
	wanted := sumsKey(auditSums, seq)
	key, value := a.cursor.Seek(wanted)
	if !bytes.Equal(key, wanted) {
		key, value = before(a.cursor)
	}
	if key == nil || key[0] != auditSums {
		return nil
	}
	sums := readSums(key, value)
	if sums == nil || len(key) != 1+8 || len(sums)%4 != 0 {
		return damagedRow(sumsBucket, key)
	}
	a.first, a.sums, a.read = binary.BigEndian.Uint64(key[1:]), sums, true
	return nil
}

// setAuditSum sets the sum of one record, within those of the Append that it was part of.
func setAuditSum(tx *bbolt.Tx, key, value []byte) error {
	a, sum := auditSumsOf(tx), rowSum(auditSeed, key, value)
	seq := binary.BigEndian.Uint64(key)
	if known, err := a.wants(key); err != nil {
		return err
	} else if !known {
		return putSums(tx, sumsKey(auditSums, key), binary.BigEndian.AppendUint32(nil, sum))
	}
	sums := bytes.Clone(a.sums)
	binary.BigEndian.PutUint32(sums[4*(seq-a.first):], sum)
	return putSums(tx, sumsKey(auditSums, appendNumber(nil, a.first)), sums)
}

// pruneSums removes the sums of records of which none is left, up to a Seq.
func pruneSums(tx *bbolt.Tx, through uint64) error {
	b := tx.Bucket([]byte(sumsBucket))
	if b == nil {
		return nil
	}
	var gone [][]byte
	c := b.Cursor()
	for key, value := c.Seek([]byte{auditSums}); key != nil && key[0] == auditSums && len(key) == 1+8; key,
		value = c.Next() {
		first, n := binary.BigEndian.Uint64(key[1:]), uint64(max(len(value)-ownSize, 0)/4)
		if first > through || n == 0 || first+n-1 > through {
			break
		}
		gone = append(gone, bytes.Clone(key))
	}
	for _, key := range gone {
		if err := b.Delete(key); err != nil {
			return err
		}
	}
	return nil
}
