package gateway

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// upload is a request's body, and whether it could not be read to its end.
type upload struct {
	io.ReadCloser
	broken atomic.Bool // read while the body may still be
	late   atomic.Bool // a deadline has passed meanwhile
}

func (u *upload) Read(p []byte) (int, error) {
	n, err := u.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		u.late.Store(errors.Is(err, os.ErrDeadlineExceeded))
		u.broken.Store(true)
	}
	return n, err
}

// buffers is the pool of buffers for copying bodies.
type buffers struct{ pool sync.Pool }

func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[bufferSize]byte); ok {
		return p[:]
	}
	return make([]byte, bufferSize)
}

func (b *buffers) Put(p []byte) { b.pool.Put((*[bufferSize]byte)(p)) } // a pointer to the slice would be garbage

const bufferSize = 32 << 10
