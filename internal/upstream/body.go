package upstream

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
)

// body is that of an answer. It has the connection until it is read to its end, or closed.
type body struct {
	c    *conn
	idle *pool
	ctx  context.Context
	stop func() bool // keeps the end of the context from closing the connection; false: it does, or did
	src  io.Reader   // net/http's; nil: the next bytes of the connection, left of them
	left int64
	keep bool // the connection may be used again
	err  error

	state atomic.Uint32
}

// The states of a body. Only Read makes it over: it knows that nobody reads any more.
const (
	open uint32 = iota
	over
	closed
)

var errClosed = errors.New("upstream: read on a closed body")

func (b *body) Read(p []byte) (int, error) {
	switch b.state.Load() {
	case over:
		return 0, b.err
	case closed:
		return 0, errClosed
	}
	n, err := b.read(p)
	if err != nil {
		err = b.end(err)
	}
	return n, err
}

func (b *body) read(p []byte) (int, error) {
	if b.src != nil {
		return b.src.Read(p)
	}
	n, err := b.c.in.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	switch {
	case b.left == 0:
		return n, io.EOF
	case err == io.EOF:
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}

// end lets go of the connection, and returns the error that Read returns from now on. A service that sends more than
// its answer is not asked again on the same connection: it would be taken for the next answer.
func (b *body) end(err error) error {
	if !b.state.CompareAndSwap(open, over) {
		return errClosed
	}
	b.err = err
	c := b.c
	b.c = nil
	if b.stop() && err == io.EOF && b.keep && c.in.Buffered() == 0 {
		b.idle.put(c)
		return err
	}
	c.Close()
	if err != io.EOF && b.ctx.Err() != nil {
		b.err = context.Cause(b.ctx)
	}
	return b.err
}

// Close closes the connection, unless the body has been read to its end. A Read that waits fails.
func (b *body) Close() error {
	if b.state.CompareAndSwap(open, closed) {
		b.stop()
		b.c.Close()
	}
	return nil
}
