package reply

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
)

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// JSON writes v as the whole body, in one write with its length.
func JSON(w http.ResponseWriter, status int, v any) error {
	buf := buffers.Get().(*bytes.Buffer)
	buf.Reset()
	defer buffers.Put(buf)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	body := bytes.TrimSuffix(buf.Bytes(), []byte("\n"))
	h := w.Header()
	h["Content-Type"] = contentType
	h["X-Content-Type-Options"] = nosniff
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	w.Write(body) // a client that has gone away is no failure of ours
	return nil
}

// NoStore keeps an answer out of every cache (RFC 6749 5.1).
func NoStore(w http.ResponseWriter) {
	h := w.Header()
	h["Cache-Control"] = noStore
	h["Pragma"] = noCache
}

// Values that many answers share. Their capacity is their length, so that adding to one in
// a header copies it.
var (
	contentType = []string{"application/json"}
	nosniff     = []string{"nosniff"}
	noStore     = []string{"no-store"}
	noCache     = []string{"no-cache"}
)

// failureBody is how all JSON failures look: code and errcode are equal, and error is
// there where RFC 6749 wants it.
type failureBody struct {
	Error       string `json:"error,omitempty"`
	Description string `json:"error_description,omitempty"`
	Code        int    `json:"code"`
	Errcode     int    `json:"errcode"`
	Msg         string `json:"msg"`
}

func copyHeader(w http.ResponseWriter, f *Failure) {
	for key, values := range f.Header {
		w.Header()[key] = values
	}
	w.Header().Del("ETag")
	NoStore(w)
}

func writeFailure(w http.ResponseWriter, f *Failure) {
	copyHeader(w, f)
	body := failureBody{Error: f.OAuth, Code: f.Code(), Errcode: f.Code(), Msg: f.Msg}
	if f.OAuth != "" {
		body.Description = f.Msg
	}
	JSON(w, f.Status, body)
}
