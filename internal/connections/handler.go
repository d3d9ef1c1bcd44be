package connections

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// handler informs the connection about the bodies of its requests.
type handler struct{ next http.Handler }

func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, ok := (*conn)(nil), false
	if r.Body != nil && r.Body != http.NoBody {
		c, ok = r.Context().Value(key{}).(*conn)
	}
	if !ok {
		h.next.ServeHTTP(w, r)
		return
	}
	// net/http looks at the body of its own request, so the handler is given a copy.
	x := &exchange{ResponseWriter: w, conn: c, request: *r, upload: upload{ReadCloser: r.Body, conn: c}}
	x.request.Body = &x.upload
	c.owe(true)
	c.beginBody()
	defer x.end()
	h.next.ServeHTTP(x, &x.request)
}

// exchange is a request with a body, and its answer.
type exchange struct {
	http.ResponseWriter
	conn    *conn
	request http.Request
	upload  upload
}

func (x *exchange) begin() {
	x.conn.owe(false)
	if !x.upload.over.Load() {
		x.conn.answering()
	}
}

func (x *exchange) end() {
	x.conn.owe(false)
	if !x.upload.over.Load() {
		x.conn.handlerReturned()
	}
}

func (x *exchange) WriteHeader(status int) {
	if status >= 200 || status == http.StatusSwitchingProtocols { // others only announce an answer
		x.begin()
	}
	x.ResponseWriter.WriteHeader(status)
}

func (x *exchange) Write(p []byte) (int, error) {
	x.begin()
	return x.ResponseWriter.Write(p)
}

// FlushError and Flush are offered because they begin an answer, and everything else by Unwrap.
func (x *exchange) FlushError() error {
	x.begin()
	return http.NewResponseController(x.ResponseWriter).Flush()
}

func (x *exchange) Flush() { x.FlushError() }

func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// upload is a request's body.
type upload struct {
	io.ReadCloser
	conn *conn
	over atomic.Bool // the request has ended, so the connection needs no more updates
}

func (u *upload) Read(p []byte) (int, error) {
	if u.over.Load() {
		return u.ReadCloser.Read(p)
	}
	u.conn.changeBody(func(b *body) { b.reading = true })
	n, err := u.ReadCloser.Read(p)
	u.conn.changeBody(func(b *body) {
		b.reading = false
		b.open = b.open && err != io.EOF
	})
	if err == io.EOF {
		u.over.Store(true)
	} else if err != nil && errors.Is(err, os.ErrDeadlineExceeded) && u.conn.bodyCut() {
		err = ErrSlow
	}
	return n, err
}

// Close reads what is left of a small body.
func (u *upload) Close() error {
	u.conn.changeBody(func(b *body) {
		b.reading = true
		u.conn.restFrom(time.Now())
	})
	err := u.ReadCloser.Close()
	u.conn.changeBody(func(b *body) { *b = body{late: b.late} }) // nobody can read it any more
	return err
}
