// Package sample holds a small API that the service answers itself, so that tools can be tried before there is an
// upstream. Requests to [Host] never leave the process: [Transport] answers them. It stores nothing.
package sample

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// Host is the name that the API is called by. It is in a domain that is kept for private networks, so no server of the
// internet has it.
const Host = "sample.keystile.internal"

//go:embed openapi.json
var document []byte

// Document returns the OpenAPI document of the API.
func Document() []byte { return bytes.Clone(document) }

const maxBody = 16 << 10

type book struct {
	ID     int    `json:"id"`
	Title  string `json:"title"`
	Author string `json:"author"`
	Price  string `json:"price"`
}

var books = []book{{1, "Twenty Thousand Leagues Under the Sea", "Jules Verne", "12.50"},
	{2, "Pride and Prejudice", "Jane Austen", "9.80"}, {3, "Dream of the Red Chamber", "Cao Xueqin", "24.00"}}

// Transport answers requests to Host, and hands the others on.
func Transport(next http.RoundTripper) http.RoundTripper {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /books", find)
	mux.HandleFunc("GET /books/{id}", show)
	mux.HandleFunc("POST /orders", order)
	return transport{next, mux}
}

type transport struct {
	next    http.RoundTripper
	handler http.Handler
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Hostname() != Host {
		return t.next.RoundTrip(r)
	}
	if r.Body != nil {
		defer r.Body.Close()
	}
	w := &writer{header: http.Header{}, status: http.StatusOK}
	served := r.Clone(r.Context())
	served.Body = http.NoBody
	if r.Body != nil {
		served.Body = r.Body
	}
	t.handler.ServeHTTP(w, served)
	return &http.Response{Status: strconv.Itoa(w.status) + " " + http.StatusText(w.status), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.header, Request: r,
		Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len())}, nil
}

// writer holds an answer.
type writer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *writer) Header() http.Header { return w.header }

func (w *writer) WriteHeader(status int) { w.status = status }

func (w *writer) Write(p []byte) (int, error) { return w.body.Write(p) }

func answer(w http.ResponseWriter, status int, record any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(record) // of texts and numbers, into memory
}

func find(w http.ResponseWriter, r *http.Request) {
	word, found := strings.ToLower(r.URL.Query().Get("q")), []book{}
	for _, b := range books {
		if strings.Contains(strings.ToLower(b.Title+" "+b.Author), word) {
			found = append(found, b)
		}
	}
	answer(w, http.StatusOK, map[string]any{"books": found})
}

func show(w http.ResponseWriter, r *http.Request) {
	if n, err := strconv.Atoi(r.PathValue("id")); err == nil && 1 <= n && n <= len(books) {
		answer(w, http.StatusOK, books[n-1])
		return
	}
	answer(w, http.StatusNotFound, map[string]string{"error": "there is no such book: take 1, 2 or 3"})
}

func order(w http.ResponseWriter, r *http.Request) {
	var ordered struct {
		Book   int `json:"book"`
		Copies int `json:"copies"`
	}
	err := json.NewDecoder(io.LimitReader(r.Body, maxBody)).Decode(&ordered)
	if err != nil || ordered.Book < 1 || ordered.Book > len(books) {
		answer(w, http.StatusBadRequest, map[string]string{"error": "book is 1, 2 or 3"})
		return
	}
	answer(w, http.StatusOK, map[string]any{"status": "received", "book": books[ordered.Book-1].Title,
		"copies": max(1, ordered.Copies)})
}
