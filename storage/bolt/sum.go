package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/rowsum"
)

// The sum of a row begins with that of its bucket's name: a row that ends in another bucket does not match either.
var (
	tokenSeed      = rowsum.Of(0, []byte(tokensBucket))
	revocationSeed = rowsum.Of(0, []byte(revocationsBucket))
	docSeed        = rowsum.Of(0, []byte(docsBucket))
	usageSeed      = rowsum.Of(0, []byte(usageBucket))
	batchSeed      = rowsum.Of(0, []byte(batchesBucket))
	auditSeed      = rowsum.Of(0, []byte(auditBucket))
	sumsSeed       = rowsum.Of(0, []byte(sumsBucket))
)

// rowSum returns the sum of a row. The sum stands after the row, where versions without sums do not read, or in
// a bucket of its own (sumbeside.go), so a release and the one before it can take turns on a file. A row that a
// version without sums wrote last has none, is read as it is, and gets one when it is written. Rows of the
// feed, the index and the notes of rows that end need none: each leads to a row that says the same, and is
// compared with it whenever it is used.
//
// The sums cost a Get and a Token 1.0 to 1.02 times the processor time, an Exchange 0.95 to 1.0 and a page of
// List 1.05, whose entries at both ends are compared too, and no memory.
func rowSum(seed uint32, key, body []byte) uint32 { return rowsum.Of(rowsum.Of(seed, key), body) }

// damaged is a driver.Damaged.
type damaged struct{ table, key string }

func damagedRow(table string, key []byte) error { return &damaged{table, nameOf(table, key)} }

// Damaged returns what is damaged.
func (d *damaged) Damaged() (table, key string) { return d.table, d.key }

func (d *damaged) Error() string {
	return fmt.Sprintf("the row of %s in %s is damaged: it is not what was written there", d.key, d.table)
}

// nameOf returns a key as an operator can read it. It holds no secret: of a token there is a hash.
func nameOf(table string, key []byte) string {
	switch table {
	case tokensBucket:
		return fmt.Sprintf("the token %x", key)
	case auditBucket, feedBucket:
		if len(key) == 8 {
			return fmt.Sprintf("Seq %d", binary.BigEndian.Uint64(key))
		}
	case docsBucket:
		if kind, id, ok := bytes.Cut(key, []byte{0}); ok {
			return fmt.Sprintf("%s %q", kind, bytes.TrimSuffix(id, []byte{0}))
		}
	case endsBucket, usageBucket, sumsBucket:
		return fmt.Sprintf("%x", key)
	}
	return fmt.Sprintf("%q", strings.TrimSuffix(string(key), "\x00"))
}

// fixed opens a row of one size.
func fixed(table string, seed uint32, size int, key, value []byte) (body []byte, summed bool, err error) {
	switch len(value) {
	case size:
		return value, false, nil
	case size + rowsum.BinarySize:
		body, sum, form := rowsum.CutBinary(value)
		if form == rowsum.Whole && sum == rowSum(seed, key, body) {
			return body, true, nil
		}
	}
	return nil, false, damagedRow(table, key)
}

const (
	revocationSize = 8 + 2*timeSize
	countSize      = 8 + 8
	batchSize      = 8
)

func openRevocation(key, value []byte) (body []byte, err error) {
	body, _, err = fixed(revocationsBucket, revocationSeed, revocationSize, key, value)
	return body, err
}

func openCount(key, value []byte) (body []byte, err error) {
	body, _, err = fixed(usageBucket, usageSeed, countSize, key, value)
	return body, err
}

func checkCount(key, value []byte) error {
	_, err := openCount(key, value)
	return err
}

func openBatch(key, value []byte) (body []byte, err error) {
	body, _, err = fixed(batchesBucket, batchSeed, batchSize, key, value)
	return body, err
}

// sealRow puts the sum behind a row.
func sealRow(seed uint32, key, body []byte) []byte {
	return rowsum.AppendBinary(body, rowSum(seed, key, body))
}

// openToken checks the row of a token and returns it without its sum.
func openToken(key, value []byte) (body []byte, err error) {
	body, sum, form := rowsum.CutBinary(value)
	switch {
	case form == rowsum.Whole && sum == rowSum(tokenSeed, key, body), form == rowsum.Whole && spentUnsummed(key,
		body, sum):
		return body, nil
	case form == rowsum.None && tokenFits(body):
		return body, nil
	}
	return nil, damagedRow(tokensBucket, key)
}

var unspent = appendTime(nil, driver.Token{}.SpentAt)

// spentUnsummed reports whether a version without sums has spent a token: it writes the time, and leaves the rest of
// the row as it was. A time and the one for "not spent" differ in some thirty bits, so few are an accident.
func spentUnsummed(key, body []byte, sum uint32) bool {
	if len(body) < timeSize {
		return false
	}
	differ := 0
	for i, b := range body[:timeSize] {
		differ += bits.OnesCount8(b ^ unspent[i])
	}
	return differ >= 16 && sum == rowsum.Of(rowSum(tokenSeed, key, unspent), body[timeSize:])
}

// tokenFits reports whether the fields of a row without a sum end where it ends.
func tokenFits(body []byte) bool {
	var t driver.Token
	times, texts := parts(&t)
	if len(body) < len(times)*timeSize {
		return false
	}
	body = body[len(times)*timeSize:]
	for range texts {
		if len(body) == 0 {
			return true // written before the field was there
		}
		size, n := binary.Uvarint(body)
		if n <= 0 || size > uint64(len(body)-n) {
			return false
		}
		body = body[n+int(size):]
	}
	return len(body) == 0
}

// openDoc checks the row of a document and returns it without its sum.
func openDoc(tx *bbolt.Tx, key, value []byte) (body []byte, err error) {
	body, _, err = openDocForm(tx, key, value)
	return body, err
}

// openDocForm also says where the sum is.
func openDocForm(tx *bbolt.Tx, key, value []byte) (body []byte, at sumPlace, err error) {
	body, sum, form := rowsum.CutText(value, rowsum.Behind)
	switch form {
	case rowsum.Whole:
		if sum == rowSum(docSeed, key, body) {
			return body, sumWithin, nil
		}
	case rowsum.None:
		known, matches := docSumBeside(tx, key, body)
		switch {
		case known && matches:
			return body, sumBeside, nil
		case !known && docFits(key, body):
			return body, noSum, nil
		}
	}
	return nil, noSum, damagedRow(docsBucket, key)
}

// sumPlace says where the sum of a document is.
type sumPlace int

const (
	noSum     sumPlace = iota // a version without sums has written it
	sumWithin                 // behind its JSON
	sumBeside                 // in sumsBucket
)

// isJSON reports whether white space may stand behind the data of a document, for versions without sums to skip.
func isJSON(data []byte) bool {
	if len(data) < 2 || data[0] != '{' {
		return false
	}
	switch data[len(data)-1] {
	case '}', ' ', '\t', '\r':
		return true
	}
	return false
}

// sumGoesWithin reports where the sum of a document is written: behind what could be taken for one it always stands.
func sumGoesWithin(body []byte) bool {
	if _, _, form := rowsum.CutText(body, rowsum.Behind); form != rowsum.None {
		return true
	}
	data, ok := dataOf(body)
	return ok && isJSON(data)
}

// docFits reports whether a row without a sum can be read, and ends as JSON does if it begins so.
func docFits(key, body []byte) bool {
	data, ok := dataOf(body)
	if _, id, cut := bytes.Cut(key, []byte{0}); !ok || !cut || len(id) == 0 || id[len(id)-1] != 0 {
		return false
	}
	return len(data) == 0 || data[0] != '{' || isJSON(data)
}

// dataOf returns what is behind the head of a document.
func dataOf(body []byte) (data []byte, ok bool) { return pastEntries(body, nil) }

// hasEntry reports whether a document, whose row may be damaged elsewhere, has an index entry.
func hasEntry(body, entry []byte) (has bool) {
	pastEntries(body, func(e []byte) { has = has || bytes.Equal(e, entry) })
	return has
}

// pastEntries hands over the index entries of a document and returns what is behind them. Nothing is made for it.
func pastEntries(body []byte, each func(entry []byte)) (data []byte, ok bool) {
	if len(body) < 8+timeSize {
		return nil, false
	}
	body = body[8+timeSize:]
	entries, n := binary.Uvarint(body)
	if n <= 0 {
		return nil, false
	}
	for body = body[n:]; entries > 0; entries-- {
		size, n := binary.Uvarint(body)
		if n <= 0 || size > uint64(len(body)-n) {
			return nil, false
		}
		if each != nil {
			each(body[n : n+int(size)])
		}
		body = body[n+int(size):]
	}
	return body, true
}
