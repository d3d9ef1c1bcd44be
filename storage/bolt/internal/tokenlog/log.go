package tokenlog

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
)

// Size of a log in bytes: the page that says whose it is, and 1,024 pages of blocks.
const Size = page + 1024*page

// ErrFull is the error of an Append for which there is no room until the file has what is in the log.
var ErrFull = errors.New("there is no room in the token log")

// File holds a log.
type File interface {
	io.WriterAt
	Flush() error // what was written is on the disk
	Close() error
}

// Log is a log that is written to. It is used by one goroutine.
type Log struct {
	file File
	last place // of the block that was written last
	at   int64 // where the next one begins
	buf  []byte
}

// OpenFile makes the file at path anew, or empties it; only its owner may read it.
func OpenFile(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

type file struct{ *os.File }

func (f file) Flush() error { return flush(f.File) }

// Begin makes an empty log of a file that is empty. When it returns nil the log is on the disk, apart from its name.
func Begin(f File) (*Log, error) {
	l := &Log{file: f, at: page}
	rand.Read(l.last.id[:])
	if _, err := f.WriteAt(title(l.last.id), 0); err != nil {
		return nil, err
	}
	zeros := make([]byte, 1<<20)
	for at := int64(page); at < Size; at += int64(len(zeros)) {
		if _, err := f.WriteAt(zeros, at); err != nil {
			return nil, err
		}
	}
	return l, f.Flush()
}

// ID returns what tells the log from others.
func (l *Log) ID() ID { return l.last.id }

// Append writes rows behind the transaction base of the file, and flushes them. Those of another base are behind it,
// in the file, by then. An error other than ErrFull leaves it open whether the rows are on the disk, and the log is not
// to be used any more.
func (l *Log) Append(base uint64, rows []Row) error {
	at, next := l.at, place{l.last.id, base, l.last.number + 1}
	if base != l.last.base {
		at, next.number = page, 1
	}
	l.buf = appendBlock(l.buf[:0], next, rows)
	if int64(len(l.buf)) > Size-at {
		return ErrFull
	}
	if _, err := l.file.WriteAt(l.buf, at); err != nil {
		return fmt.Errorf("the token log cannot be written: %w", err)
	}
	if err := l.file.Flush(); err != nil {
		return fmt.Errorf("the token log cannot be flushed: %w", err)
	}
	l.at, l.last = at+int64(len(l.buf)), next
	if cap(l.buf) > largeBuffer {
		l.buf = nil
	}
	return nil
}

// largeBuffer is more than what a usual block needs; it is not kept.
const largeBuffer = 1 << 20

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }
