package reply

import (
	"net/http"
	"strconv"
	"strings"
)

// Document writes a public JSON document that is kept as bytes: anybody may cache it for
// five minutes, and who has it already, by its ETag, is told 304.
func Document(w http.ResponseWriter, r *http.Request, body []byte, etag string) {
	h := w.Header()
	h["Cache-Control"] = fiveMinutes
	h["Etag"] = []string{etag}
	if has(r.Header.Get("If-None-Match"), etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h["Content-Type"] = contentType
	h["X-Content-Type-Options"] = nosniff
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.Write(body)
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
