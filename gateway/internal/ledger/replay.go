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
func replay(data []byte, each func(entry)) (lost damage, err error) {
	for len(data) > 0 {
		e, size, err := decode(data)
		switch {
		case errors.Is(err, errNewer):
			return lost, err
		case err == nil:
			each(e)
		default:
			size = untilRecord(data)
			if size == len(data) && torn(data) {
				lost.torn = size
			} else {
				lost.damaged += size
			}
		}
		data = data[size:]
	}
	return lost, nil
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
