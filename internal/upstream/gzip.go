package upstream

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
)

// unzip has an answer read as it was before the service compressed it.
func unzip(res *http.Response) {
	if !strings.EqualFold(res.Header.Get("Content-Encoding"), "gzip") {
		return
	}
	res.Header.Del("Content-Encoding")
	res.Header.Del("Content-Length")
	res.Body, res.ContentLength, res.Uncompressed = &unzipped{body: res.Body}, -1, true
}

// unzipped is a body without its compression.
type unzipped struct {
	body io.ReadCloser
	in   *gzip.Reader // nil before the first Read, and after the last
	err  error
}

var unzippers = sync.Pool{New: func() any { return new(gzip.Reader) }}

func (u *unzipped) Read(p []byte) (n int, err error) {
	if u.err != nil {
		return 0, u.err
	}
	if u.in == nil {
		u.in = unzippers.Get().(*gzip.Reader)
		err = u.in.Reset(u.body)
	}
	if err == nil {
		n, err = u.in.Read(p)
	}
	if u.err = err; err != nil {
		unzippers.Put(u.in)
		u.in = nil
	}
	return n, err
}

// Close may be called while a Read waits, and ends it.
func (u *unzipped) Close() error { return u.body.Close() }
