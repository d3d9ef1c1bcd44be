package page

import (
	_ "embed"
	"html/template"
	"net/http"
	"strconv"
	"strings"
)

//go:embed fail.html
var failText string

var failBody = Lazily(func() *template.Template { return template.Must(template.New("fail").Parse(failText)) })

type failure struct {
	Lang
	Title, Message string
	Code           string
	Way            *Way
}

// Way is a link to a page of ours that leads on from a failure.
type Way struct{ Path, Label string } // Label is in English

// Fail answers with a page that says what is wrong (title) and what to do (message), both
// written in English and shown in the reader's language if the table has them. It carries
// no link and no brand: nothing on it comes from the request.
func Fail(w http.ResponseWriter, r *http.Request, status int, title, message string) error {
	return fail(w, r, status, title, message, nil)
}

// FailTo is Fail with a way on.
func FailTo(w http.ResponseWriter, r *http.Request, status int, title, message string, on Way) error {
	return fail(w, r, status, title, message, &on)
}

func fail(w http.ResponseWriter, r *http.Request, status int, title, message string, on *Way) error {
	f := failure{Lang: LangOf(r, r.URL.Query().Get("ui_locales")), Title: title, Message: message,
		Code: strconv.Itoa(status), Way: on}
	var body strings.Builder
	if err := failBody.Execute(&body, f); err != nil {
		return err
	}
	look := Look{Lang: f.Lang, Title: f.T(title), Brand: Brand{Mark: true}}
	return Write(w, status, look, template.HTML(body.String()))
}
