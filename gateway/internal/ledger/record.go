package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/keystile/keystile/storage/driver"
)

// entry is the amount that one record adds to one row.
type entry struct {
	app, product string
	hour         uint32 // since 1970, UTC
	calls        int64
	errors       int64
}

// maxName is the longest name of an application or a product, in bytes.
const maxName = 255

func newEntry(app, product string, at time.Time, failed bool) (entry, error) {
	hour := at.Unix() / 3600
	switch {
	case !named(app):
		return entry{}, fmt.Errorf("ledger: the application %.40q cannot be charged: a name is 1 to %d bytes of UTF-8 without 0x00", app, maxName)
	case !named(product):
		return entry{}, fmt.Errorf("ledger: the product %.40q cannot be charged: a name is 1 to %d bytes of UTF-8 without 0x00", product, maxName)
	case at.Unix() < 0 || hour > math.MaxUint32:
		return entry{}, fmt.Errorf("ledger: a call at %v cannot be charged: set the clock", at)
	}
	e := entry{app: app, product: product, hour: uint32(hour), calls: 1}
	if failed {
		e.errors = 1
	}
	return e, nil
}

func named(s string) bool {
	return s != "" && len(s) <= maxName && utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

func (e entry) count() driver.Count {
	return driver.Count{
		AppID: e.app, Product: e.product, At: time.Unix(int64(e.hour)*3600, 0).UTC(),
		Calls: e.calls, Errors: e.errors,
	}
}

func entryOf(c driver.Count) entry {
	return entry{app: c.AppID, product: c.Product, hour: uint32(c.At.Unix() / 3600), calls: c.Calls, errors: c.Errors}
}

// A record is
//
//	0xFE  kind  length uint16  CRC-32C uint32 of kind, length and body
//	body: hour uint32  calls uvarint  errors uvarint  len(app) byte  app  product
//
// with integers in big-endian order. 0xFE is in no UTF-8 text, so no name, not even a
// malicious one, can hold something that looks like a record to a reader in search of the
// next one.
const (
	mark       = 0xFE
	kindCalls  = 1
	headSize   = 8
	maxBody    = 4 + 2*binary.MaxVarintLen64 + 1 + 2*maxName
	recordSize = headSize + maxBody // at most
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendRecord(to []byte, e entry) []byte {
	start := len(to)
	to = append(to, mark, kindCalls, 0, 0, 0, 0, 0, 0)
	to = binary.BigEndian.AppendUint32(to, e.hour)
	to = binary.AppendUvarint(to, uint64(e.calls))
	to = binary.AppendUvarint(to, uint64(e.errors))
	to = append(to, byte(len(e.app)))
	to = append(to, e.app...)
	to = append(to, e.product...)
	record := to[start:]
	binary.BigEndian.PutUint16(record[2:], uint16(len(record)-headSize))
	binary.BigEndian.PutUint32(record[4:], checksum(record))
	return to
}

func checksum(record []byte) uint32 {
	sum := crc32.Update(0, castagnoli, record[1:4])
	return crc32.Update(sum, castagnoli, record[headSize:])
}

var (
	errNoRecord = errors.New("ledger: no record")
	errNewer    = errors.New("written by a newer version; start that one, or one newer still")
)

// decode reads the record at the beginning of data, and returns its length.
func decode(data []byte) (e entry, size int, err error) {
	if len(data) < headSize || data[0] != mark {
		return entry{}, 0, errNoRecord
	}
	size = headSize + int(binary.BigEndian.Uint16(data[2:]))
	if size > len(data) || binary.BigEndian.Uint32(data[4:]) != checksum(data[:size]) {
		return entry{}, 0, errNoRecord
	}
	if data[1] != kindCalls {
		return entry{}, size, errNewer
	}
	if e, err = decodeBody(data[headSize:size]); err != nil {
		return entry{}, 0, err
	}
	return e, size, nil
}

func decodeBody(body []byte) (e entry, err error) {
	if len(body) < 4 {
		return entry{}, errNoRecord
	}
	e.hour = binary.BigEndian.Uint32(body)
	body = body[4:]
	for _, into := range []*int64{&e.calls, &e.errors} {
		n, size := binary.Uvarint(body)
		if size <= 0 || n > math.MaxInt64 {
			return entry{}, errNoRecord
		}
		*into, body = int64(n), body[size:]
	}
	if len(body) == 0 || len(body)-1 < int(body[0]) {
		return entry{}, errNoRecord
	}
	e.app, e.product = string(body[1:1+body[0]]), string(body[1+body[0]:])
	if !named(e.app) || !named(e.product) {
		return entry{}, errNoRecord
	}
	return e, nil
}
