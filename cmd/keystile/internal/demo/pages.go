package demo

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/keystile/keystile/internal/reply"
)

//go:embed pages.html
var pageTexts string

//go:embed style.css
var style string

// pages are parsed, and policy is computed, when the first page is shown.
var pages = sync.OnceValue(func() *template.Template { return template.Must(template.New("").Parse(pageTexts)) })

// view holds what the pages show.
type view struct {
	Base  string
	Style template.CSS

	App, ClientID   string
	Name, Home      string
	Claims          []claim
	AccessToken     string
	Scope, Lifetime string

	Status  int
	Message string
}

// Letter returns the letter in the application's tile.
func (v view) Letter() string {
	for _, r := range v.App {
		return strings.ToUpper(string(r))
	}
	return ""
}

// policy lets a page use its own style sheet and send its forms to us; nothing else.
var policy = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
})

// write answers with one of the pages.
func write(w http.ResponseWriter, status int, name string, v view) error {
	v.Style = template.CSS(style)
	var buf bytes.Buffer
	if err := pages().ExecuteTemplate(&buf, name, v); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(buf.Len()))
	h.Set("Content-Security-Policy", policy())
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // no-referrer would send Origin: null with the sign-out form
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(buf.Bytes()) // a reader who has gone away is no failure of ours
	return nil
}

// Every way the demo says no. They are read by a person in front of a browser.
var (
	noApplication = &reply.Failure{Status: http.StatusNotFound,
		Msg: "The demo's application was removed, disabled or made public, so there is nothing to sign in to. The provider " +
			"itself is well."}

	// The sign-in did not start in this browser, started under another name of this
	// machine, took over ten minutes, or came back twice.
	strangeState = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "This answer belongs to no sign-in that began in this browser in the last ten minutes."}
	// Mix-up defence (RFC 9207).
	strangeIssuer = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "This answer does not come from the provider that was asked."}
	strangeIDToken = &reply.Failure{Status: http.StatusBadRequest,
		Msg: "The id_token does not pass: it is not about this sign-in, or the application no longer has its secret or " +
			"HS256."}
	refused = &reply.Failure{Status: http.StatusBadRequest, Msg: "The provider said no."}
)

// fail shows a failure as a page, with the way back.
func (d *Demo) fail(w http.ResponseWriter, _ *http.Request, f *reply.Failure) {
	for key, values := range f.Header {
		w.Header()[key] = values
	}
	write(w, f.Status, "failure", view{Base: d.base, Status: f.Status, Message: f.Msg})
}
