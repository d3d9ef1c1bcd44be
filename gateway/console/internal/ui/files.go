package ui

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"strconv"
	"sync"

	"github.com/keystile/keystile/internal/page"
)

//go:embed console.css
var styleText string

//go:embed console.js
var scriptText string

// file is served as it is, to anybody: nothing in it is secret.
type file struct {
	kind string
	body []byte
	etag string
}

func newFile(kind, text string) file {
	sum := sha256.Sum256([]byte(text))
	return file{kind, []byte(text), `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}
}

// files are those of the pages, by name.
var files = sync.OnceValue(func() map[string]file {
	return map[string]file{
		"console.css": newFile("text/css; charset=utf-8", page.Tokens()+styleText),
		"console.js":  newFile("text/javascript; charset=utf-8", scriptText),
	}
})

// ExemptPaths returns the paths that no rate limit should count: files that never change.
func ExemptPaths() (all []string) {
	for name := range files() {
		all = append(all, Root+name)
	}
	return all
}

func (f file) serve(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Set("Etag", f.etag)
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Header.Get("If-None-Match") == f.etag {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", f.kind)
	h.Set("Content-Length", strconv.Itoa(len(f.body)))
	w.Write(f.body)
	return nil
}
