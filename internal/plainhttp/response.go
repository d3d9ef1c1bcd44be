package plainhttp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// response is the http.ResponseWriter of one request.
type response struct {
	conn    *conn
	request *http.Request
	cancel  context.CancelFunc
	body    *body // of the request; nil: none
	header  http.Header
	writers *writers
	over    atomic.Bool // the handler has returned

	status     int   // 0: the handler has not begun to answer
	length     int64 // of the answer's body, as it was declared; -1: it was not
	written    int64
	sentHead   bool
	chunked    bool
	fullDuplex bool
	closes     bool // the connection is closed after the answer
	tooBig     bool // more of the request's body is left than is read in vain
	trailers   []string
}

func (w *response) Header() http.Header { return w.header }

// WriteHeader panics if status does not have three digits, as net/http's does. Only the first final status counts.
func (w *response) WriteHeader(status int) {
	if w.status != 0 {
		where := caller()
		w.conn.server.logf("http: superfluous response.WriteHeader call from %s (%s:%d)", where.Function,
			path.Base(where.File), where.Line)
		return
	}
	if status < 100 || status > 999 {
		panic(fmt.Sprintf("invalid WriteHeader code %v", status))
	}
	w.writers.head.take(w.header)
	if status < 200 && status != http.StatusSwitchingProtocols {
		w.announce(status)
		return
	}
	w.status = status
	if text := w.writers.head.length.first(); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err == nil && n >= 0 {
			w.length = n
			return
		}
		w.conn.server.logf("http: invalid Content-Length of %q", text)
		w.header.Del("Content-Length")
	}
}

// announce sends an answer before the final one.
func (w *response) announce(status int) {
	head := &w.writers.head
	head.length.leaveOut()
	head.transfer.leaveOut()
	out := w.writers.out
	b := appendStatus(out.AvailableBuffer(), status)
	out.Write(append(head.append(b), "\r\n"...))
	out.Flush()
}

// caller returns what has called a response.
func caller() (found runtime.Frame) {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for more := true; more; {
		found, more = frames.Next()
		if f := found.Function; !strings.HasPrefix(f, "net/http.") && !strings.Contains(f, "/plainhttp.(*response)") &&
			!strings.HasSuffix(f, "/plainhttp.caller") {
			break
		}
	}
	return found
}

func (w *response) Write(p []byte) (int, error) {
	if err := w.allow(len(p)); err != nil || len(p) == 0 {
		return 0, err
	}
	return w.writers.body.Write(p)
}

func (w *response) WriteString(s string) (int, error) {
	if err := w.allow(len(s)); err != nil || s == "" {
		return 0, err
	}
	return w.writers.body.WriteString(s)
}

// errOver is the error of those who use an answer after its handler has returned.
var errOver = errors.New("plainhttp: the handler has returned")

// allow counts n bytes of the body, and refuses them where they do not belong.
func (w *response) allow(n int) error {
	if w.over.Load() {
		return errOver
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if n == 0 {
		return nil
	}
	if !bodyAllowed(w.status) {
		return http.ErrBodyNotAllowed
	}
	w.written += int64(n)
	if w.length != -1 && w.written > w.length {
		return http.ErrContentLength
	}
	return nil
}

func bodyAllowed(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified
}

func (w *response) Flush() { w.FlushError() }

// FlushError sends what was written.
func (w *response) FlushError() error {
	if w.over.Load() {
		return errOver
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	err := w.writers.body.Flush()
	if !w.sentHead {
		w.writeHead(nil)
	}
	if last := w.writers.out.Flush(); err == nil {
		err = last
	}
	return err
}

// SetReadDeadline sets until when the body, and what follows it, may be read.
func (w *response) SetReadDeadline(t time.Time) error {
	if w.over.Load() {
		return errOver
	}
	return w.conn.SetReadDeadline(t)
}

// SetWriteDeadline sets until when the answer may be written.
func (w *response) SetWriteDeadline(t time.Time) error {
	if w.over.Load() {
		return errOver
	}
	return w.conn.SetWriteDeadline(t)
}

// EnableFullDuplex leaves the request's body to the handler while it answers.
func (w *response) EnableFullDuplex() error {
	w.fullDuplex = true
	return nil
}

// finish sends what is left of the answer. The response must not be used after it.
func (w *response) finish() {
	w.over.Store(true)
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.writers.body.Flush()
	if !w.sentHead {
		w.writeHead(nil)
	}
	if w.chunked {
		w.writeEnd()
	}
	w.writers.out.Flush()
	w.leave()
	giveWriters(w.writers)
	if w.request.MultipartForm != nil {
		w.request.MultipartForm.RemoveAll()
	}
}

// leave lets go of the connection: nobody reads from it when it returns.
func (w *response) leave() {
	w.conn.watch.end()
	if w.body != nil {
		w.body.Close()
	}
}

// abort ends an answer that the handler has not finished.
func (w *response) abort() {
	w.over.Store(true)
	w.cancel()
	w.leave()
	w.writers.out.Flush()
}

// reusable reports whether another request can follow the answer.
func (w *response) reusable() bool {
	short := w.length != -1 && w.length != w.written && w.request.Method != http.MethodHead && bodyAllowed(w.status)
	return !w.closes && !short && !w.conn.broken.Load() && w.body.over()
}
