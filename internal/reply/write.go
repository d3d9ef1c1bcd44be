package reply

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"
)

// Appender is an answer that writes itself, because it is asked for more often than reading its
// structure is worth. It must append the same text as encoding/json.
type Appender interface {
	AppendJSON(to []byte) []byte
}

// encoder is a buffer, and what writes JSON into it.
type encoder struct {
	bytes.Buffer
	json *json.Encoder
}

var encoders = sync.Pool{New: func() any {
	e := new(encoder)
	e.json = json.NewEncoder(&e.Buffer)
	e.json.SetEscapeHTML(false)
	return e
}}

// JSON writes v as the whole body, in one write with its length.
func JSON(w http.ResponseWriter, status int, v any) error {
	e := encoders.Get().(*encoder)
	e.Reset()
	defer encoders.Put(e)
	if a, ok := v.(Appender); ok {
		e.Write(a.AppendJSON(e.AvailableBuffer()))
	} else if err := e.json.Encode(v); err != nil {
		return err
	}
	body := bytes.TrimSuffix(e.Bytes(), []byte("\n"))
	h := w.Header()
	h["Content-Type"] = contentType
	h["X-Content-Type-Options"] = nosniff
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	w.WriteHeader(status)
	w.Write(body) // a client that has gone away is no failure of ours
	return nil
}

// Prepared is a JSON answer that is kept as bytes, with the header of its length.
type Prepared struct {
	body   []byte
	length []string
}

// Prepare makes a Prepared of a copy of JSON.
func Prepare(body []byte) *Prepared {
	return &Prepared{body: bytes.Clone(body), length: []string{strconv.Itoa(len(body))}}
}

// With returns one whose object has more members, each of which begins with a comma.
func (p *Prepared) With(members []byte) *Prepared {
	body := slices.Concat(p.body[:len(p.body)-1], members, []byte("}"))
	return &Prepared{body, []string{strconv.Itoa(len(body))}}
}

// Write answers a request with it, and keeps it out of every cache.
func (p *Prepared) Write(w http.ResponseWriter) {
	NoStore(w)
	h := w.Header()
	h["Content-Type"] = contentType
	h["X-Content-Type-Options"] = nosniff
	h["Content-Length"] = p.length
	w.Write(p.body)
}

// Success writes the answer to a request that was done (protocol 4), with data in it, and keeps it
// out of every cache.
func Success(w http.ResponseWriter, data any) error {
	NoStore(w)
	return JSON(w, http.StatusOK, struct {
		Code int    `json:"code"`
		Msg  string `json:"msg"`
		Data any    `json:"data"`
	}{1, "success", data})
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

// failureBody is the JSON of every failure: code and errcode are equal, and error is
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
