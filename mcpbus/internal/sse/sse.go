// Package sse reads streams of server-sent events.
package sse

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// ErrTooLong says that a stream has more bytes than there may be.
var ErrTooLong = errors.New("sse: the stream is too long")

// Reader reads a stream of server-sent events (WHATWG HTML, 9.2.6).
type Reader struct {
	r     *bufio.Reader
	limit *io.LimitedReader
	most  int64
	cr    bool // the last line ended with CR: an LF that follows belongs to it
	begun bool
	line  []byte
}

// New returns a Reader of at most limit bytes, comments included.
func New(r io.Reader, limit int64) *Reader {
	l := &io.LimitedReader{R: r, N: limit + 1}
	return &Reader{r: bufio.NewReader(l), limit: l, most: limit}
}

// Bytes returns how many bytes of the stream were taken so far.
func (e *Reader) Bytes() int64 { return e.most + 1 - e.limit.N }

// Next returns the data of the next event that is a message, valid until the next call. It
// returns io.EOF at the end and ErrTooLong past the limit. An event that the end of the
// stream cuts off is returned too: parsing its JSON shows whether it is complete.
func (e *Reader) Next() (data []byte, err error) {
	kind, some := "", false
	for {
		err := e.readLine()
		if e.limit.N <= 0 {
			return nil, ErrTooLong
		}
		if err != nil && (err != io.EOF || !some) {
			return nil, err
		}
		if len(e.line) == 0 {
			if len(data) > 0 && (kind == "" || kind == "message") {
				return data, nil
			}
			kind, some, data = "", false, nil
			if err != nil {
				return nil, err
			}
			continue
		}
		name, value, _ := bytes.Cut(e.line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) { // "" is a comment
		case "event":
			kind = string(value)
		case "data":
			if some {
				data = append(data, '\n')
			}
			data, some = append(data, value...), true
		}
	}
}

// readLine reads a line without its end, which is LF, CR or both. At the end of the stream
// it is an empty line and io.EOF; a last line without an end comes first.
func (e *Reader) readLine() error {
	e.line = e.line[:0]
	for {
		if _, err := e.r.Peek(1); err != nil {
			if err == io.EOF && len(e.line) > 0 {
				return nil
			}
			e.line = e.line[:0]
			return err
		}
		chunk, _ := e.r.Peek(e.r.Buffered())
		if e.cr && chunk[0] == '\n' {
			e.cr = false
			e.r.Discard(1)
			continue
		}
		e.cr = false
		i := bytes.IndexAny(chunk, "\r\n")
		if i < 0 {
			e.line = append(e.line, chunk...)
			e.r.Discard(len(chunk))
			continue
		}
		e.line, e.cr = append(e.line, chunk[:i]...), chunk[i] == '\r'
		e.r.Discard(i + 1)
		if !e.begun {
			e.begun, e.line = true, bytes.TrimPrefix(e.line, []byte("\ufeff"))
		}
		return nil
	}
}
