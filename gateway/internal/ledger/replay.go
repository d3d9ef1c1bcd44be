package ledger

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// damage counts the bytes of a journal that could not be read.
type damage struct {
	torn    int // at the end: what a kill or a power cut left of a record nobody was answered for
	damaged int // anywhere else
}

// replay hands every whole record to each. Behind a damaged one it goes on with the next
// that is whole. It fails only with errNewer.
//
// A file of whole steps was mapped: the zeros at its end are room that no record came into, and
// what is between them and the last record is one that a kill, or a power cut, came amid.
func replay(data []byte, each func(entry)) (lost damage, err error) {
	mapped := len(data)%roomStep == 0
	for len(data) > 0 {
		e, size, err := decode(data)
		switch {
		case errors.Is(err, errNewer):
			return lost, err
		case err == nil:
			each(e)
		default:
			size = untilRecord(data)
			if size < len(data) {
				lost.damaged += size
			} else {
				lost = lost.plus(data, mapped)
			}
		}
		data = data[size:]
	}
	return lost, nil
}

// plus counts the end of a journal, in which no record is.
func (d damage) plus(end []byte, mapped bool) damage {
	isTorn := torn
	if mapped {
		end, isTorn = bytes.TrimRight(end, "\x00"), tornStore
	}
	if isTorn(end) {
		d.torn = len(end)
	} else {
		d.damaged += len(end)
	}
	return d
}

// untilRecord returns how many bytes precede the next record, not counting one at the very start.
func untilRecord(data []byte) int {
	for i := 1; i < len(data); i++ {
		next := bytes.IndexByte(data[i:], mark)
		if next < 0 {
			break
		}
		i += next
		if _, _, err := decode(data[i:]); !errors.Is(err, errNoRecord) {
			return i
		}
	}
	return len(data)
}

// torn reports whether data, which ends a file, is the beginning of a record, or the zeros
// that a power cut leaves where a file had grown and its data had not arrived.
func torn(data []byte) bool {
	if len(bytes.Trim(data, "\x00")) == 0 {
		return true
	}
	if data[0] != mark || len(data) > 1 && !isKind(data[1]) {
		return false
	}
	if len(data) < headSize {
		return true
	}
	body := int(binary.BigEndian.Uint16(data[2:]))
	return body <= maxBody && len(data) < headSize+body
}

// tornStore reports whether data, without the zeros behind it, is some of the bytes of a record that
// was stored when a kill came, its first not among them, or what torn reports. No record ends in a zero.
func tornStore(data []byte) bool {
	return torn(data) || data[0] == 0 && len(data) < recordSize
}
