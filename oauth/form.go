package oauth

import (
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

const (
	maxForm = 64 << 10 // bytes in a form body
	formCT  = "application/x-www-form-urlencoded"
)

// bodyForm reads the parameters of a form body (protocol 4). Those of the query are not read.
func bodyForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	text, err := formBody(w, r)
	if err != nil {
		return nil, err
	}
	form, err := parseForm(text)
	r.PostForm = form // the body is gone; the metrics read grant_type here
	return form, err
}

func formBody(w http.ResponseWriter, r *http.Request) (string, error) {
	if !isForm(r.Header.Get("Content-Type")) {
		return "", badRequest.Saying("the Content-Type must be " + formCT)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForm))
	if err != nil {
		return "", badBody(err)
	}
	return string(body), nil
}

// isForm reports whether a Content-Type is that of a form. Most say just that.
func isForm(sent string) bool {
	if sent == formCT {
		return true
	}
	ct, _, err := mime.ParseMediaType(sent)
	return err == nil && ct == formCT
}

// parseForm reads parameters. One sent twice is refused (RFC 6749 3.1, 3.2): proxies and
// libraries differ in which they take. One sent empty counts as not sent.
func parseForm(text string) (url.Values, error) {
	form, err := url.ParseQuery(text)
	if err != nil {
		return form, badRequest.Saying("the parameters are not properly URL-encoded").Because(err)
	}
	for name, values := range form {
		switch {
		case !utf8.ValidString(name) || !utf8.ValidString(values[0]) || strings.Contains(values[0], "\x00"):
			return form, badRequest.Saying("a parameter is not UTF-8, or holds a zero byte, which not every store can keep")
		case len(values) > 1:
			return form, badRequest.Saying("parameter " + printable(name) + " is sent more than once")
		case values[0] == "":
			delete(form, name)
		}
	}
	return form, nil
}

// readTarget rewrites the resource of a request in the form that tokens name it in.
func (s *Server) readTarget(form url.Values) {
	if sent := form.Get("resource"); sent != "" {
		form.Set("resource", s.engine.Target(sent))
	}
}

// printable replaces the characters of a client's text that would make an answer unreadable.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '?'
		}
		return r
	}, s)
	if len(s) > 64 {
		s = s[:64]
	}
	return s
}
