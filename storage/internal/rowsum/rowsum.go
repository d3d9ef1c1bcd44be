// Package rowsum makes the checksums that rows are stored with, and the trailers that hold them.
//
// A sum is the CRC-32C of what a row is found by and of what it holds, together: a value that ends under another
// key is noticed too. It finds every error of up to 32 neighbouring bits, and processors calculate it. It is made for
// accidents of disks and memory: whoever may write to the store can write a sum as well.
//
// # Choices
//
// A trailer is read by versions that know of none: text is followed by white space, which readers of JSON skip, and
// what is binary by bytes behind the last field, which were never read. So no version is kept from a store because of
// sums. Each trailer ends or begins in a mark of two bytes, and one that has a single byte wrong still counts as a
// trailer: a flipped bit cannot turn a row with a sum into one without.
package rowsum

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

// Of continues a sum with more bytes; 0 begins one.
func Of(sum uint32, more []byte) uint32 {
	return crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), more)
}

// BinarySize is the size of a trailer behind what is binary: the sum, and two bytes 0xFF, which end no UTF-8.
const BinarySize = 4 + 2

const binaryMark = 0xFFFF

// AppendBinary appends a sum to a row whose last field is a text or a number.
func AppendBinary(row []byte, sum uint32) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint32(row, sum), binaryMark)
}

// A Form says what stands at the end of a row.
type Form int

const (
	None   Form = iota // no trailer: a version without sums has written the row
	Whole              // a trailer
	Broken             // what was a trailer
)

// CutBinary cuts the trailer off a row that ends in a text of UTF-8, or in a zero byte for an empty one.
func CutBinary(row []byte) (body []byte, sum uint32, form Form) {
	n := len(row) - BinarySize
	if n < 0 {
		return row, 0, None
	}
	switch mark := binary.BigEndian.Uint16(row[n+4:]); bits.OnesCount16(mark ^ binaryMark) {
	case 0:
		return row[:n], binary.BigEndian.Uint32(row[n:]), Whole
	case 1: // no UTF-8 ends so: of its last two bytes each has a bit that is 0, or they are ASCII
		return row, 0, Broken
	}
	return row, 0, None
}

// TextSize is the size of a trailer behind JSON: 32 blanks and tabs, a bit each, and two carriage returns.
const TextSize = 32 + 2

// A Mark is where the carriage returns of a trailer stand.
type Mark int

const (
	Behind Mark = iota // of an adapter, which sums its rows
	Before             // of package storage, which sums documents for adapters that do not
)

// digits are four bits each, the lowest first, as blanks and tabs.
var digits = func() (all [16][4]byte) {
	for n := range all {
		for i := range all[n] {
			all[n][i] = ' '
			if n>>i&1 == 1 {
				all[n][i] = '\t'
			}
		}
	}
	return all
}()

// AppendText appends a sum to JSON.
func AppendText(json []byte, sum uint32, m Mark) []byte {
	if m == Before {
		json = append(json, '\r', '\r')
	}
	for range 8 {
		json = append(json, digits[sum&0xF][:]...)
		sum >>= 4
	}
	if m == Behind {
		json = append(json, '\r', '\r')
	}
	return json
}

// CutText cuts the trailer off what may end in one.
func CutText(row []byte, m Mark) (body []byte, sum uint32, form Form) {
	n := len(row) - TextSize
	if n < 0 {
		return row, 0, None
	}
	marks, digits := row[n+32:], row[n:n+32]
	if m == Before {
		marks, digits = row[n:n+2], row[n+2:]
	}
	wrong := 0
	for i := range 4 {
		eight, bad := readDigits(digits[8*i:])
		sum |= uint32(eight) << (8 * i)
		wrong += bad
	}
	for _, c := range marks {
		if c != '\r' {
			wrong++
		}
	}
	switch wrong {
	case 0:
		return row[:n], sum, Whole
	case 1:
		return row, 0, Broken
	}
	return row, 0, None
}

const (
	ones   = 0x0101010101010101
	blanks = ' ' * ones
	turns  = ' ' ^ '\t' // a blank into a tab
)

// readDigits reads eight blanks and tabs, and says how many of them are neither.
func readDigits(b []byte) (eight byte, wrong int) {
	differ := binary.LittleEndian.Uint64(b) ^ blanks
	tabs := differ & ones
	if tabs*turns != differ {
		for _, c := range b[:8] {
			if c != ' ' && c != '\t' {
				wrong++
			}
		}
	}
	return byte(tabs * 0x0102040810204080 >> 56), wrong // the lowest bit of each byte, gathered
}
