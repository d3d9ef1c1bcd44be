package postgres

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"
)

const (
	stampSize = 12
	drawnSize = 8
)

// stamp writes a time as 12 bytes that are ordered as times are: seconds plus 2^63, nanoseconds.
// timestamptz has microseconds.
func stamp(t time.Time) []byte {
	b := make([]byte, stampSize)
	binary.BigEndian.PutUint64(b, uint64(t.Unix())^1<<63)
	binary.BigEndian.PutUint32(b[8:], uint32(t.Nanosecond()))
	return b
}

// drawn returns a number by which a call knows its own work: random bytes behind others.
func drawn(behind []byte) []byte {
	var b [drawnSize]byte
	rand.Read(b[:])
	return append(behind, b[:]...)
}

// end writes a time whose zero means never, which is NULL.
func end(t time.Time) []byte {
	if t.IsZero() {
		return nil
	}
	return stamp(t)
}

// when reads what stamp and end have written.
func when(b []byte) (time.Time, error) {
	switch len(b) {
	case 0:
		return time.Time{}, nil
	case stampSize, stampSize + drawnSize:
		return time.Unix(int64(binary.BigEndian.Uint64(b)^1<<63), int64(binary.BigEndian.Uint32(b[8:]))).UTC(), nil
	}
	return time.Time{}, fmt.Errorf("a time of %d bytes, want %d", len(b), stampSize)
}
