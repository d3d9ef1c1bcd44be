package page

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// Look holds the appearance of a page and what its policy permits.
type Look struct {
	Lang  Lang
	Title string // of the browser's tab, in Lang; the brand's name is put behind it
	Brand Brand
	// Leaves says that the answer to a form may lead to another site. Then nothing is said of where forms are sent:
	// browsers hold each redirect that follows a POST against that, also those of the site that it leads to, so
	// whoever is sent on by an application would stay on this page.
	Leaves bool
	// Live lets the page run the scripts of our own that its body links to, and lets
	// these ask us. Without it and Scripted there is no script at all.
	Live bool
	// Scripted lets the page run the scripts of our own that its body links to, which ask nobody.
	Scripted bool
	// Wide gives the page more room: there is much on it.
	Wide bool
}

//go:embed frame.html
var frameText string

//go:embed style.css
var styleText string

// tokensText holds the colors of all pages, those of sign-in and of the console.
//
//go:embed tokens.css
var tokensText string

// Tokens returns the style sheet's beginning: the colors of all pages, light and dark.
func Tokens() string { return strings.ReplaceAll(tokensText, "\r", "") }

// style is without carriage returns whatever a checkout has put there: a browser drops
// them before it takes the digest the policy names.
var style = sync.OnceValue(func() template.CSS {
	return template.CSS(Tokens() + strings.ReplaceAll(styleText, "\r", ""))
})

var styleDigest = sync.OnceValue(func() string { return digest(style()) })

var frame = Lazily(func() *template.Template { return template.Must(template.New("frame").Parse(frameText)) })

// sheet holds the data of the frame template.
type sheet struct {
	Look
	Style, Paint template.CSS
	Body         template.HTML
}

// Write answers with a page: the frame in the look, and body inside it.
func Write(w http.ResponseWriter, status int, look Look, body template.HTML) error {
	s := sheet{Look: look, Style: style(), Paint: paint(look.Brand.Color), Body: body}
	var buf bytes.Buffer
	if err := frame.Execute(&buf, s); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", string(look.Lang))
	h.Set("Content-Length", strconv.Itoa(buf.Len()))
	h.Set("Content-Security-Policy", policy(s))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(buf.Bytes()) // a reader who has gone away is no failure of ours
	return nil
}
