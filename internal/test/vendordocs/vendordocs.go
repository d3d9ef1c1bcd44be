// Package vendordocs serves the client metadata documents of well-known MCP clients to tests, and others
// that a test writes.
//
// The documents have the members that were publicly reported of each client as it was in September 2026.
// Nothing here reaches the Internet.
package vendordocs

import (
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

//go:embed documents
var documents embed.FS

// The client_ids of the documents that are served.
const (
	ClaudeCode = "https://claude.ai/oauth/claude-code-client-metadata"
	ClaudeAI   = "https://claude.ai/oauth/mcp-oauth-client-metadata"
	ChatGPT    = "https://chatgpt.com/oauth/kDmjx77UnKOM/client.json"
	VSCode     = "https://vscode.dev/oauth/client-metadata.json"
	Codex      = "https://chatgpt.com/oauth/codex/EDrLtgxAifwZ/client.json"
	OpenCode   = "https://opencode.ai/oauth/opencode/client.json"
	Goose      = "https://goose-docs.ai/oauth/client-metadata.json"
	Zed        = "https://zed.dev/oauth/client-metadata.json"

	ChatGPTKeys = "https://chatgpt.com/oauth/jwks.json" // what Assertion signs with
)

// Docs answers requests for documents by URL, as if it were all the hosts. It is an http.RoundTripper
// of its own, for tests that bend the time; Serve makes real connections of it.
type Docs struct {
	mu      sync.Mutex
	answers map[string]http.Handler
	other   http.Handler
	asked   map[string]int
	all     int
}

// New returns Docs with the documents of all vendors, and the keys of ChatGPT.
func New(t testing.TB) *Docs {
	t.Helper()
	d := &Docs{other: http.NotFoundHandler(), answers: map[string]http.Handler{}, asked: map[string]int{}}
	for id, text := range All(t) {
		d.Set(id, JSON(text))
	}
	d.Set(ChatGPTKeys, JSON(KeySet(t)))
	return d
}

// All returns the documents of all vendors by client_id.
func All(t testing.TB) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(documents, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := documents.ReadFile(name)
		if err != nil {
			return err
		}
		var d struct {
			ID string `json:"client_id"`
		}
		if err := json.Unmarshal(text, &d); err != nil {
			return err
		}
		all[d.ID] = string(text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// JSON answers with a document that is good for ten minutes.
func JSON(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Cache-Control", "public, max-age=600")
		w.Write([]byte(text))
	})
}

// Status answers with a status and a page, as a vendor that is away does.
func Status(code int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(code)
	})
}

// Set puts an answer at a URL; nil takes it away.
func (d *Docs) Set(url string, answer http.Handler) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answers[url] = answer
}

// Echo answers at every URL that nothing was put at with a document of that client_id, as an attacker's
// server does. So many bytes of it are a redirect_uri.
func (d *Docs) Echo(size int) {
	more := ""
	for range size / 2000 {
		more += `,"https://` + "a.example.net/" + strings.Repeat("x", 1986) + `"`
	}
	d.other = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		JSON(`{"client_id":"https://`+r.Host+r.URL.RequestURI()+`","redirect_uris":["http://127.0.0.1/callback"`+more+`]}`).ServeHTTP(w, r)
	})
}

// Asked returns how often a URL was asked for; of "", how often any was.
func (d *Docs) Asked(url string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if url == "" {
		return d.all
	}
	return d.asked[url]
}

// ServeHTTP answers as the host that the request is for.
func (d *Docs) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	url := "https://" + r.Host + r.URL.RequestURI()
	d.mu.Lock()
	d.all++
	d.asked[url]++
	answer := d.answers[url]
	d.mu.Unlock()
	if answer == nil {
		answer = d.other
	}
	answer.ServeHTTP(w, r)
}

// RoundTrip answers without a connection. An answer that waits ends with the request's context.
func (d *Docs) RoundTrip(r *http.Request) (*http.Response, error) {
	in := r.Clone(r.Context())
	in.Host = r.URL.Host
	w := httptest.NewRecorder()
	d.ServeHTTP(w, in)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}
