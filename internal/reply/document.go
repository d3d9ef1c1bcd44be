package reply

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
)

// Document is a public JSON document that is kept as bytes, with the header it is sent with:
// anybody may cache it for five minutes, and a client that has it already, by its ETag, is answered
// with 304.
type Document struct {
	body         []byte
	etag, length []string
}

// NewDocument makes a Document. body must not change any more.
func NewDocument(body []byte) *Document {
	sum := sha256.Sum256(body)
	return &Document{
		body:   body,
		etag:   []string{`"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`},
		length: []string{strconv.Itoa(len(body))},
	}
}

// ETag names the bytes.
func (d *Document) ETag() string { return d.etag[0] }

// Body returns the bytes. They are shared: do not write to them.
func (d *Document) Body() []byte { return d.body }

// Write answers with the document.
func (d *Document) Write(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h["Cache-Control"] = fiveMinutes
	h["Etag"] = d.etag
	if has(r.Header.Get("If-None-Match"), d.etag[0]) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h["Content-Type"] = contentType
	h["X-Content-Type-Options"] = nosniff
	h["Content-Length"] = d.length
	w.Write(d.body)
}

var fiveMinutes = []string{"public, max-age=300"}

// has is If-None-Match (RFC 9110 13.1.2): a list of tags, weakly compared, or *.
func has(header, etag string) bool {
	for tag := range strings.SplitSeq(header, ",") {
		if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == etag || tag == "*" {
			return true
		}
	}
	return false
}
