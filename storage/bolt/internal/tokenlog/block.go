package tokenlog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/keystile/keystile/storage/driver"
)

// page divides a log as disks do: a block that was acknowledged shares no page with the one that is being written.
const page = 4096

// ID tells the logs of one file from each other, and from those of other files.
type ID [16]byte

// Row is the row of a token.
type Row struct {
	Key   driver.Key
	New   bool   // the row was not there before; else it replaces one
	Value []byte // with its checksum
}

// place says where in the life of a log a block belongs.
type place struct {
	id     ID
	base   uint64 // the transaction of the file that it follows
	number uint64 // among the blocks of this base, from 1
}

const headSize = 4 + 4 + 4 + len(ID{}) + 8 + 8

// sum returns the checksum of what a log holds.
func sum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// appendBlock appends a block to b, which is empty.
func appendBlock(b []byte, at place, rows []Row) []byte {
	b = append(b, make([]byte, headSize)...)
	for _, r := range rows {
		isNew := byte(0)
		if r.New {
			isNew = 1
		}
		b = append(append(b, isNew), r.Key[:]...)
		b = append(binary.AppendUvarint(b, uint64(len(r.Value))), r.Value...)
	}
	if over := len(b) % page; over != 0 {
		b = append(b, make([]byte, page-over)...)
	}
	binary.BigEndian.PutUint32(b[4:], uint32(len(b)/page))
	binary.BigEndian.PutUint32(b[8:], uint32(len(rows)))
	copy(b[12:], at.id[:])
	binary.BigEndian.PutUint64(b[28:], at.base)
	binary.BigEndian.PutUint64(b[36:], at.number)
	binary.BigEndian.PutUint32(b, sum(b[4:]))
	return b
}

// block is a whole block at the beginning of what it was cut from.
type block struct {
	place
	rows  int
	bytes []byte
}

// cutBlock returns the block of a log at the beginning of b; false: there is no whole one.
func cutBlock(b []byte, id ID) (c block, whole bool) {
	if len(b) < headSize || ID(b[12:28]) != id {
		return c, false
	}
	pages := binary.BigEndian.Uint32(b[4:])
	if pages == 0 || uint64(pages)*page > uint64(len(b)) {
		return c, false
	}
	c.bytes = b[:int(pages)*page]
	c.rows = int(binary.BigEndian.Uint32(b[8:]))
	c.place = place{id, binary.BigEndian.Uint64(b[28:]), binary.BigEndian.Uint64(b[36:])}
	return c, binary.BigEndian.Uint32(b) == sum(c.bytes[4:])
}

// appendRows appends the rows of a block. Their values lie in the block.
func (c block) appendRows(to []Row) ([]Row, error) {
	b := c.bytes[headSize:]
	for range c.rows {
		var r Row
		if len(b) < 1+len(r.Key) || b[0] > 1 {
			return nil, fmt.Errorf("%w: a row of block %d cannot be read", ErrDamaged, c.number)
		}
		r.New, r.Key, b = b[0] == 1, driver.Key(b[1:]), b[1+len(r.Key):]
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return nil, fmt.Errorf("%w: a row of block %d cannot be read", ErrDamaged, c.number)
		}
		r.Value, b = b[n:n+int(size)], b[n+int(size):]
		to = append(to, r)
	}
	return to, nil
}
