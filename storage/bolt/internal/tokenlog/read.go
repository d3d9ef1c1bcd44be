package tokenlog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Errors of Read.
var (
	// ErrMissing: there is no log, or that of another file.
	ErrMissing = errors.New("the token log is not there")
	// ErrDamaged: the log does not have what was written to it.
	ErrDamaged = errors.New("the token log is damaged")
)

const magic = "keystile token log 1\n"

// title returns the first page of a log.
func title(id ID) []byte {
	b := append(make([]byte, 0, page), magic...)
	b = append(b, id[:]...)
	b = binary.BigEndian.AppendUint32(b, sum(b))
	return b[:page]
}

// Read returns the rows in the log at path that follow the transaction base of its file, in the order in which they
// were written. The caller may keep them. It changes nothing.
func Read(path string, id ID, base uint64) ([]Row, error) {
	all, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrMissing
	case err != nil:
		return nil, err
	case len(all) != Size:
		return nil, fmt.Errorf("%w: it has %d of %d bytes", ErrDamaged, len(all), Size)
	}
	return read(all, id, base)
}

func read(all []byte, id ID, base uint64) (rows []Row, err error) {
	at, next, own := page, place{id, base, 1}, bytes.Equal(all[:page], title(id))
	for {
		b, whole := cutBlock(all[at:], id)
		if !whole || b.place != next {
			break
		}
		if rows, err = b.appendRows(rows); err != nil {
			return nil, err
		}
		at += len(b.bytes)
		next.number++
	}
	for p := at; p < len(all); p += page {
		b, whole := cutBlock(all[p:], id)
		own = own || whole
		switch {
		case whole && b.base == base:
			return nil, fmt.Errorf("%w: block %d cannot be read, and block %d can", ErrDamaged, next.number, b.number)
		case whole && b.base > base:
			return nil, fmt.Errorf("%w: it follows transaction %d, and the file ends with %d", ErrDamaged, b.base, base)
		}
	}
	if !own && next.number == 1 {
		return nil, fmt.Errorf("%w: what is in its place does not belong to the file", ErrMissing)
	}
	return rows, nil
}
