package plainhttp

import (
	"io"
	"net/http"
	"sync"
)

// mostDropped bounds, in bytes, what is read of a body that the handler has not read, to go on with the connection.
// It is net/http's number.
const mostDropped = 256 << 10

// body is the body of a request, which has a length.
type body struct {
	conn *conn

	mu     sync.Mutex // a Read may outlast the handler
	left   int64      // bytes that were not read
	ended  bool       // all was read, or the client has ended the connection
	closed bool
	early  bool // it was closed with too much left
}

// Read fails with io.ErrUnexpectedEOF if the client ends the connection too soon, and with
// http.ErrBodyReadAfterClose once the handler has returned.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, http.ErrBodyReadAfterClose
	}
	return b.read(p)
}

// read is called with mu locked.
func (b *body) read(p []byte) (n int, err error) {
	if b.ended {
		return 0, io.EOF
	}
	n, err = b.conn.readBody(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	switch {
	case err == io.EOF:
		b.ended = true
		err = io.ErrUnexpectedEOF
	case b.left == 0:
		b.ended = true
		err = io.EOF
		b.conn.watch.watchFromHere()
	}
	return n, err
}

// readBody reads through the buffer what does not fill it, as small reads cost as much as large ones.
func (c *conn) readBody(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	if c.from == c.to {
		if len(p) >= len(c.buf) {
			n, err = c.Conn.Read(p)
			c.lostAt(err)
			return n, err
		}
		c.from, c.to = 0, 0
		c.to, err = c.Conn.Read(c.buf)
		c.lostAt(err)
	}
	n = copy(p, c.buf[c.from:c.to])
	c.from += n
	if n > 0 {
		err = nil // it comes again
	}
	return n, err
}

// lostAt ends the context of a request whose body cannot be read.
func (c *conn) lostAt(err error) {
	if err != nil {
		c.watch.lost()
	}
}

// Close reads what is left, unless that is too much.
func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	var err error
	if b.early = b.left >= mostDropped; !b.early {
		_, err = b.drop()
	}
	b.closed = true
	return err
}

// drop reads mostDropped and one byte of what is left, or all that is less. It is called with mu locked.
func (b *body) drop() (n int64, err error) {
	scratch := dropped.Get().(*[8 << 10]byte)
	defer dropped.Put(scratch)
	for !b.ended && n <= mostDropped {
		m, err := b.read(scratch[:])
		n += int64(m)
		if err != nil && err != io.EOF {
			return n, err
		}
	}
	return n, nil
}

var dropped = sync.Pool{New: func() any { return new([8 << 10]byte) }}

// settle makes the way free for the answer: clients may send all before they read. It reports whether another request
// can follow the body, and whether the body is too big for that.
func (b *body) settle() (follows, tooBig bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return b.ended, false
	case b.left >= mostDropped:
		return false, true
	}
	_, err := b.drop()
	return err == nil, false
}

// gaveUp reports whether the body was closed with too much left.
func (b *body) gaveUp() bool {
	if b == nil {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.early
}

// over reports whether no byte of the body comes any more.
func (b *body) over() bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended
}
