package web

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/reply"
)

// showPath is the script of the pages with a password.
const showPath = FormPath + "/show.js"

//go:embed show.js
var showScript []byte

// Scripts returns the routes of the scripts that the pages share, which nobody needs a limit for.
func Scripts() []reply.Route { return []reply.Route{Script(showPath, showScript)} }

// UnmeteredScripts returns their paths.
func UnmeteredScripts() []string { return []string{showPath} }

// Script returns the route of a script of a page.
func Script(path string, text []byte) reply.Route {
	sum := sha256.Sum256(text)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
	return reply.Route{Path: path, Methods: []string{http.MethodGet, http.MethodHead},
		Handle: func(w http.ResponseWriter, r *http.Request) error {
			h := w.Header()
			h.Set("Content-Type", "text/javascript; charset=utf-8")
			h.Set("X-Content-Type-Options", "nosniff")
			h.Set("Cache-Control", "public, max-age=300")
			h.Set("ETag", tag)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
			return nil
		}}
}
