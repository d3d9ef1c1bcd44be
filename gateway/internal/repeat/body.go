package repeat

import (
	"crypto/sha256"
	"hash"
	"io"
	"sync"
)

// Body is a request's body that is hashed as it is read.
type Body struct {
	io.ReadCloser
	want int64 // bytes; -1: not known before its end

	mu    sync.Mutex // a transport may still read while the answer begins
	hash  hash.Hash
	read  int64
	ended bool
}

// NewBody wraps a body of so many bytes, as http.Request.ContentLength has them.
func NewBody(body io.ReadCloser, length int64) *Body {
	return &Body{ReadCloser: body, want: length, hash: sha256.New(), ended: length == 0}
}

func (b *Body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hash.Write(p[:n])
	b.read += int64(n)
	if err == io.EOF || b.read == b.want {
		b.ended = true
	}
	return n, err
}

// Sum returns the hash of the body; whole is false if nobody has read it to its end.
func (b *Body) Sum() (sum [sha256.Size]byte, whole bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hash.Sum(sum[:0])
	return sum, b.ended
}
