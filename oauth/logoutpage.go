package oauth

import (
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

//go:embed logout.html
var logoutText string

//go:embed signedout.html
var signedOutText string

var (
	logoutPage = page.Lazily(func() *template.Template {
		return template.Must(template.New("logout").Parse(logoutText))
	})
	signedOutPage = page.Lazily(func() *template.Template {
		return template.Must(template.New("signedout").Parse(signedOutText))
	})
)

// logoutView holds the data of both pages. Back is a link and no redirect, so the reader sees the
// target before following it.
type logoutView struct {
	page.Lang
	Action string
	Hidden []field
	Back   template.URL // postLogoutApp has checked it
	Host   string
}

type field struct{ Name, Value string }

func (o *logoutEndpoint) writeConfirmation(w http.ResponseWriter, r *http.Request, app storage.App,
	form url.Values) error {
	var hidden []field
	for _, name := range []string{"client_id", "id_token_hint", "post_logout_redirect_uri", "state", "ui_locales"} {
		if form.Has(name) {
			hidden = append(hidden, field{name, form.Get(name)})
		}
	}
	return o.write(w, r, app, form, "Sign out", logoutPage, hidden)
}

// writeSignedOut shows the page that says that nobody is signed in, with a link back.
func (o *logoutEndpoint) writeSignedOut(w http.ResponseWriter, r *http.Request, app storage.App,
	form url.Values) error {
	return o.write(w, r, app, form, "You are signed out", signedOutPage, nil)
}

func (o *logoutEndpoint) write(w http.ResponseWriter, r *http.Request, app storage.App, form url.Values, title string,
	body *page.Template, hidden []field) error {
	lang := page.LangOf(r, form.Get("ui_locales"))
	var text strings.Builder
	view := logoutView{Lang: lang, Action: pathLogout, Hidden: hidden, Back: template.URL(backTo(form)),
		Host: hostOf(form.Get("post_logout_redirect_uri"))}
	if err := body.Execute(&text, view); err != nil {
		return err
	}
	look := page.Look{Lang: lang, Title: lang.T(title), Brand: page.BrandOf(app),
		Leaves: form.Has("post_logout_redirect_uri")}
	return page.Write(w, http.StatusOK, look, template.HTML(text.String()))
}

// failPage shows a failure to the person in front of the browser.
func (k *core) failPage(w http.ResponseWriter, r *http.Request, f *reply.Failure) {
	l := page.LangOf(r, r.URL.Query().Get("ui_locales"))
	text := inDetail(f, l.T(f.Msg))
	if wait, err := strconv.Atoi(f.Header.Get("Retry-After")); err == nil && f.Status == http.StatusTooManyRequests {
		text += " " + l.Again(time.Duration(wait)*time.Second)
	}
	page.Fail(w, r, f.Status, "This request cannot go on", text)
}
