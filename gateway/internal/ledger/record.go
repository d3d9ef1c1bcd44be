package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// entry is the amount that one record adds to the rows of an application.
type entry struct {
	app string
	cell
	amount
	took span
}

// maxName is the longest name of an application or a product, in bytes.
const maxName = 255

func newEntry(app, product string, by Detail, at time.Time, failed bool) (entry, error) {
	hour := at.Unix() / 3600
	switch {
	case !named(app):
		return entry{}, fmt.Errorf("ledger: the application %.40q cannot be charged: a name is 1 to %d bytes of UTF-8 "+
			"without 0x00", app, maxName)
	case !named(product):
		return entry{}, fmt.Errorf("ledger: the product %.40q cannot be charged: a name is 1 to %d bytes of UTF-8 without "+
			"0x00", product, maxName)
	case at.Unix() < 0 || hour > math.MaxUint32:
		return entry{}, fmt.Errorf("ledger: a call at %v cannot be charged: set the clock", at)
	}
	e := entry{app: app, cell: cell{product: product, tool: by.Tool, user: by.User, agent: by.Agent,
		hour: uint32(hour)}, amount: amount{calls: 1}, took: spanOf(by.Took)}
	for _, detail := range []*string{&e.tool, &e.user, &e.agent} {
		if !named(*detail) { // one that cannot be kept is left out: it is no reason to refuse a call
			*detail = ""
		}
	}
	if failed {
		e.errors = 1
	}
	return e, nil
}

func named(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	for i := range len(s) { // most names are ASCII, and are looked at once
		if s[i] == 0 {
			return false
		}
		if s[i] >= utf8.RuneSelf {
			return utf8.ValidString(s[i:]) && strings.IndexByte(s[i:], 0) < 0
		}
	}
	return true
}

// A record is
//
//	0xFE  kind  length uint16  CRC-32C uint32 of kind, length and body
//	body of kind 1: hour uint32  calls uvarint  errors uvarint  len(app) byte  app  product
//	body of kind 2: hour uint32  calls uvarint  errors uvarint  len(app) byte  len(product) byte  len(tool) byte
//	                app  product  tool  user
//	body of kind 3: as kind 2, with the number of the range of its latency (byte) before len(app)
//	body of kind 4: as kind 3, with len(agent) byte behind len(tool), and the agent behind the tool
//
// with integers in big-endian order. 0xFE is in no UTF-8 text, so no name, not even a
// malicious one, can hold something that looks like a record to a reader in search of the
// next one. In kind 3 the application may be "": it adds to the latencies of a product alone, whose
// calls other records count. In kind 4 the range may be 0: it is not known.
const (
	mark       = 0xFE
	kindCalls  = 1
	kindDetail = 2 // with a tool, a user, or both; versions before it refuse a journal that has one
	kindTimed  = 3 // with a latency; versions before it refuse a journal that has one
	kindActed  = 4 // with an agent; versions before it refuse a journal that has one
	headSize   = 8
	maxBody    = 4 + 2*binary.MaxVarintLen64 + 5 + 5*maxName
	recordSize = headSize + maxBody // at most
)

func appendRecord(to []byte, e *entry) []byte {
	start, kind := len(to), byte(kindCalls)
	switch {
	case e.agent != "":
		kind = kindActed
	case e.took > 0:
		kind = kindTimed
	case !e.isPlain():
		kind = kindDetail
	}
	to = append(to, mark, kind, 0, 0, 0, 0, 0, 0)
	to = binary.BigEndian.AppendUint32(to, e.hour)
	to = binary.AppendUvarint(to, uint64(e.calls))
	to = binary.AppendUvarint(to, uint64(e.errors))
	if kind >= kindTimed {
		to = append(to, byte(e.took))
	}
	to = append(to, byte(len(e.app)))
	if kind != kindCalls {
		to = append(to, byte(len(e.product)), byte(len(e.tool)))
	}
	if kind == kindActed {
		to = append(to, byte(len(e.agent)))
	}
	to = append(to, e.app...)
	to = append(to, e.product...)
	to = append(to, e.tool...)
	to = append(to, e.agent...)
	to = append(to, e.user...)
	record := to[start:]
	binary.BigEndian.PutUint16(record[2:], uint16(len(record)-headSize))
	binary.BigEndian.PutUint32(record[4:], checksum(record))
	return to
}

func checksum(record []byte) uint32 {
	castagnoli, sum := crc32.MakeTable(crc32.Castagnoli), ^uint32(0)
	for _, b := range record[1:4] { // so few that crc32.Update takes longer to begin
		sum = castagnoli[byte(sum)^b] ^ sum>>8
	}
	return crc32.Update(^sum, castagnoli, record[headSize:])
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
	if !isKind(data[1]) {
		return entry{}, size, errNewer
	}
	if e, err = decodeBody(data[1], data[headSize:size]); err != nil {
		return entry{}, 0, err
	}
	return e, size, nil
}

func isKind(b byte) bool { return b >= kindCalls && b <= kindActed }

func decodeBody(kind byte, body []byte) (e entry, err error) {
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
	if kind >= kindTimed {
		if len(body) == 0 || body[0] == 0 && kind == kindTimed || body[0] > Ranges {
			return entry{}, errNoRecord
		}
		e.took, body = span(body[0]), body[1:]
	}
	names := []*string{&e.app, &e.product, &e.tool, &e.agent, &e.user}
	switch kind {
	case kindCalls:
		names = names[:2]
	case kindDetail, kindTimed:
		names = slices.Delete(names, 3, 4)
	}
	lengths := len(names) - 1 // the last name takes the rest
	if len(body) < lengths {
		return entry{}, errNoRecord
	}
	text := body[lengths:]
	for i, name := range names {
		n := len(text)
		if i < lengths {
			n = int(body[i])
		}
		if n > len(text) {
			return entry{}, errNoRecord
		}
		*name, text = string(text[:n]), text[n:]
		if !named(*name) && (i < 2 && (i > 0 || kind != kindTimed) || *name != "") {
			return entry{}, errNoRecord
		}
	}
	if e.app == "" && !e.isPlain() || kind == kindActed && e.agent == "" {
		return entry{}, errNoRecord
	}
	return e, nil
}
