package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"net/http"
	"time"
)

// Script is a script of our own that a Live page links to.
type Script struct {
	text []byte
	tag  string
}

// ScriptOf returns the script in a file, which must be there.
func ScriptOf(from fs.FS, name string) *Script {
	text, err := fs.ReadFile(from, name)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(text)
	return &Script{text, `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`}
}

// Serve answers with the script. It may be kept for five minutes, and asked for again by its ETag.
func (s *Script) Serve(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("ETag", s.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(s.text))
	return nil
}
