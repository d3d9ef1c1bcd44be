package resp

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strconv"
)

const (
	lineMost  = 16 << 10 // bytes of a line, and what is read at a time
	bytesMost = 4 << 20  // bytes of the answers to one write, with what the parts of them cost
	depthMost = 8        // of lists within lists
	partCosts = 64       // bytes that a Value takes
	piece     = 4 << 10  // a long text is read by so much
	errorMost = 512      // bytes that are kept of an error, which is logged and shown
)

var (
	errProtocol = errors.New("resp: what came is no answer of Redis")
	errTooLarge = errors.New("resp: an answer is longer than any of Redis has to be")
)

// reader reads answers of bounded size.
type reader struct {
	in   *bufio.Reader
	left int // bytes that may still come
}

func newReader(from io.Reader) *reader {
	return &reader{bufio.NewReaderSize(from, lineMost), bytesMost}
}

// value reads one answer. At the top level it is an answer to a command; below, a part of one.
func (r *reader) value(depth int) (v Value, err error) {
	line, err := r.line()
	if err != nil {
		return v, err
	}
	kind, text := line[0], line[1:]
	switch kind {
	case '+', ',', '(': // a double and a big number are not counted with
		return Value{Kind: Text, Text: string(text)}, nil
	case '-':
		return failure(text), nil
	case ':':
		n, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			return v, errProtocol
		}
		return Value{Kind: Number, Int: n}, nil
	case '#':
		switch string(text) {
		case "t":
			return Value{Kind: Number, Int: 1}, nil
		case "f":
			return Value{Kind: Number}, nil
		}
		return v, errProtocol
	case '_':
		if len(text) > 0 {
			return v, errProtocol
		}
		return v, nil
	case '$', '!', '=', '*', '~', '%':
		n, null, err := length(text)
		if err != nil || null {
			return v, err
		}
		if kind == '*' || kind == '~' || kind == '%' {
			return r.list(kind, n, depth)
		}
		return r.text(kind, n)
	}
	return v, errProtocol
}

// line reads a line without its end. It is valid until more is read, and has a byte at least.
func (r *reader) line() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, errTooLarge
	case err != nil:
		return nil, err
	case len(line) < 3 || line[len(line)-2] != '\r':
		return nil, errProtocol
	}
	return line[:len(line)-2], r.take(len(line) + partCosts)
}

// take has n bytes of what may come used up.
func (r *reader) take(n int) error {
	if n > r.left {
		return errTooLarge
	}
	r.left -= n
	return nil
}

// length reads how long a text or a list is; RESP 2 says -1 where there is none.
func length(text []byte) (n int, null bool, err error) {
	if string(text) == "-1" {
		return 0, true, nil
	}
	if len(text) == 0 || text[0] < '0' || text[0] > '9' {
		return 0, false, errProtocol
	}
	long, err := strconv.ParseUint(string(text), 10, 64)
	switch {
	case errors.Is(err, strconv.ErrSyntax):
		return 0, false, errProtocol
	case err != nil || long > bytesMost:
		return 0, false, errTooLarge
	}
	return int(long), false, nil
}

func (r *reader) text(kind byte, n int) (v Value, err error) {
	if err := r.take(n + 2); err != nil {
		return v, err
	}
	var b []byte
	for n += 2; len(b) < n; {
		from := len(b)
		b = slices.Grow(b, min(piece, n-from))[:min(from+piece, n)]
		if _, err := io.ReadFull(r.in, b[from:]); err != nil {
			return v, err
		}
	}
	if b[n-2] != '\r' || b[n-1] != '\n' {
		return v, errProtocol
	}
	b = b[:n-2]
	switch {
	case kind == '!':
		return failure(b), nil
	case kind == '=' && (len(b) < 4 || b[3] != ':'):
		return v, errProtocol
	case kind == '=':
		b = b[4:] // how it is written, such as "txt:"
	}
	return Value{Kind: Text, Text: string(b)}, nil
}

func failure(text []byte) Value {
	return Value{Kind: Failure, Text: string(text[:min(len(text), errorMost)])}
}

func (r *reader) list(kind byte, n, depth int) (v Value, err error) {
	if kind == '%' {
		n *= 2
	}
	if depth >= depthMost || n > r.left/partCosts {
		return v, errTooLarge
	}
	v.Kind, v.List = List, make([]Value, 0, min(n, 16))
	for range n {
		part, err := r.value(depth + 1)
		if err != nil {
			return Value{}, err
		}
		v.List = append(v.List, part)
	}
	return v, nil
}
