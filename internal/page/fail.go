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
}

// Fail answers with a page that says what is wrong (title) and what to do (message), both
// written in English and shown in the reader's language if the table has them. It carries
// no link and no brand: nothing on it comes from the request.
func Fail(w http.ResponseWriter, r *http.Request, status int, title, message string) error {
	f := failure{Lang: LangOf(r, r.URL.Query().Get("ui_locales")), Title: title, Message: message, Code: strconv.Itoa(status)}
	var body strings.Builder
	if err := failBody.Execute(&body, f); err != nil {
		return err
	}
	look := Look{Lang: f.Lang, Title: f.T(title), Brand: Brand{Mark: true}}
	return Write(w, status, look, template.HTML(body.String()))
}
