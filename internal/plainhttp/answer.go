package plainhttp

import (
	"fmt"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// added are the fields that the handler did not give, in the order they are sent; empty ones are not.
type added struct {
	date, length, kind, connection, transfer string
}

// writeHead writes the head of an answer whose body begins with p, and decides how its end is told.
func (w *response) writeHead(p []byte) {
	w.sentHead = true
	f := &w.writers.head
	var more added
	w.declareTrailers(f)
	if w.over.Load() && f.length == nil && f.transfer.first() == "" && bodyAllowed(w.status) &&
		len(w.trailers) == 0 && f.trailer == nil && f.trailed == nil && (len(p) > 0 || w.request.Method != http.MethodHead) {
		w.length = int64(len(p))
		more.length = strconv.Itoa(len(p))
	}
	stopping := w.conn.server.closing.Load()
	if f.connection.first() == "close" || stopping {
		w.closes = true
	}
	w.settleBody(f, &more)
	w.describe(f, &more, p)
	w.frame(f, &more)
	if w.closes && (stopping || !hasToken(f.connection.first(), "close")) {
		f.connection.leaveOut()
		more.connection = "close"
	}
	out := w.writers.out
	b := f.append(appendStatus(out.AvailableBuffer(), w.status))
	out.Write(append(more.append(b), "\r\n"...))
}

// settleBody sees to what is left of the request's body.
func (w *response) settleBody(f *fields, more *added) {
	if w.body == nil || w.closes || w.fullDuplex {
		return
	}
	follows, tooBig := w.body.settle()
	if !follows {
		w.closes = true
	}
	if tooBig {
		w.tooBig = true
		f.connection.leaveOut()
		more.connection = "close"
	}
}

// describe adds what the body is, and when it was sent.
func (w *response) describe(f *fields, more *added, p []byte) {
	switch {
	case !bodyAllowed(w.status):
		if w.status == http.StatusNotModified {
			f.kind.leaveOut()
		}
		f.length.leaveOut()
		f.transfer.leaveOut()
	case f.kind == nil && f.encoding.first() == "" && f.transfer.first() == "" && len(p) > 0:
		more.kind = http.DetectContentType(p)
	}
	if f.date == nil {
		more.date = date()
	}
}

// frame decides how the end of the body is told: by its length, by chunks, or by the end of the connection.
func (w *response) frame(f *fields, more *added) {
	transfer, known := f.transfer.first(), w.length != -1
	if known && transfer != "" && transfer != "identity" {
		w.conn.server.logf("http: WriteHeader called with both Transfer-Encoding of %q and a Content-Length of %d", transfer,
			w.length)
		f.length.leaveOut()
		known = false
	}
	switch {
	case w.request.Method == http.MethodHead || !bodyAllowed(w.status) || known:
		f.transfer.leaveOut()
	case transfer == "identity":
		w.closes = true
		f.transfer.leaveOut()
	default:
		w.chunked = true
		more.transfer = "chunked"
		if transfer == "chunked" {
			f.transfer.leaveOut()
		}
		f.length.leaveOut()
	}
}

// declareTrailers notes which fields come after the body.
func (w *response) declareTrailers(f *fields) {
	if f.trailer == nil {
		return
	}
	for _, list := range append([]string{f.trailer.value}, f.trailer.more...) {
		for name := range strings.SplitSeq(list, ",") {
			name = http.CanonicalHeaderKey(textproto.TrimString(name))
			if name != "" && httpguts.ValidTrailerHeader(name) {
				w.trailers = append(w.trailers, name)
			}
		}
	}
}

// writeEnd writes what ends a body in chunks.
func (w *response) writeEnd() {
	out := w.writers.out
	b := append(out.AvailableBuffer(), "0\r\n"...)
	if h := w.finalTrailers(); len(h) > 0 {
		w.writers.head.take(h)
		b = w.writers.head.append(b)
	}
	out.Write(append(b, "\r\n"...))
}

func (w *response) finalTrailers() http.Header {
	h := http.Header{}
	for name, values := range w.header {
		if name, is := strings.CutPrefix(name, http.TrailerPrefix); is {
			h[name] = values
		}
	}
	for _, name := range w.trailers {
		h[name] = append(slices.Clip(h[name]), w.header[name]...)
	}
	return h
}

func (a *added) append(b []byte) []byte {
	for _, one := range [...]struct{ name, value string }{
		{"Date", a.date}, {"Content-Length", a.length}, {"Content-Type", a.kind}, {"Connection", a.connection},
		{"Transfer-Encoding", a.transfer},
	} {
		if one.value == "" {
			continue
		}
		b = append(b, one.name...)
		b = append(b, ": "...)
		b = append(b, one.value...)
		b = append(b, "\r\n"...)
	}
	return b
}

func appendStatus(b []byte, status int) []byte {
	text := http.StatusText(status)
	if text == "" {
		return fmt.Appendf(b, "HTTP/1.1 %03d status code %d\r\n", status, status)
	}
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, text...)
	return append(b, "\r\n"...)
}

// hasToken reports whether a list has a token, in any case. As in net/http, a space separates as well.
func hasToken(list, token string) bool {
	for one := range strings.FieldsFuncSeq(list, func(r rune) bool { return strings.ContainsRune(", \t", r) }) {
		if strings.EqualFold(one, token) {
			return true
		}
	}
	return false
}
