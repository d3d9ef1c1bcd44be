package oauth

import (
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// logout is /oauth/logout (OpenID Connect RP-Initiated Logout 1.0). GET changes nothing:
// it asks, because any page on the web can send a browser here. The POST ends the session.
func (s *Server) logout(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodPost {
		return s.signOut(w, r)
	}
	form, err := parseForm(r.URL.RawQuery)
	if err != nil {
		return err
	}
	app, err := s.leaving(r, form)
	if err != nil {
		return err
	}
	switch _, err := s.c.SignIn.Visitor(r); {
	case errors.Is(err, storage.ErrNotFound):
		return s.goodbye(w, r, app, form)
	case err != nil:
		return err
	}
	return s.confirm(w, r, app, form)
}

func (s *Server) signOut(w http.ResponseWriter, r *http.Request) error {
	if err := s.sameOrigin.Check(r); err != nil {
		return crossOrigin.Because(err)
	}
	form, err := bodyForm(w, r)
	if err != nil {
		return err
	}
	app, err := s.leaving(r, form)
	if err != nil {
		return err
	}
	if err := s.c.SignIn.SignOut(w, r); err != nil {
		return err
	}
	return s.goodbye(w, r, app, form)
}

// leaving finds the application that wants the browser back, and judges where to. A
// request without post_logout_redirect_uri needs no application.
func (s *Server) leaving(r *http.Request, form url.Values) (app storage.App, err error) {
	to := form.Get("post_logout_redirect_uri")
	if to == "" {
		return app, nil
	}
	id := form.Get("client_id")
	if id == "" {
		id = audienceOf(form.Get("id_token_hint"))
	}
	app, err = s.c.Store.App(r.Context(), id)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return app, unknownApp
	case err != nil:
		return app, err
	}
	if err := app.AllowsRedirect(to); err != nil {
		return app, badRedirect.Saying("post_logout_redirect_uri is not allowed: " + err.Error())
	}
	return app, nil
}

// audienceOf reads the client_id out of an id_token without verifying it: it only picks
// the application whose registered domains the redirect must keep to.
func audienceOf(idToken string) string {
	_, rest, _ := strings.Cut(idToken, ".")
	payload, _, _ := strings.Cut(rest, ".")
	raw, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return ""
	}
	var claims struct {
		Audience string `json:"aud"`
	}
	json.Unmarshal(raw, &claims)
	return claims.Audience
}

// goodbye sends the browser back to the application, or says that it is over.
func (s *Server) goodbye(w http.ResponseWriter, r *http.Request, app storage.App, form url.Values) error {
	if to := form.Get("post_logout_redirect_uri"); to != "" {
		return reply.Found(w, reply.WithQuery(to, "state", form.Get("state")))
	}
	return s.write(w, r, app, form, "You are signed out", signedOutPage, nil)
}

//go:embed logout.html
var logoutText string

//go:embed signedout.html
var signedOutText string

var (
	logoutPage    = template.Must(template.New("logout").Parse(logoutText))
	signedOutPage = template.Must(template.New("signedout").Parse(signedOutText))
)

type logoutView struct {
	page.Lang
	Action string
	Hidden []field
}

type field struct{ Name, Value string }

func (s *Server) confirm(w http.ResponseWriter, r *http.Request, app storage.App, form url.Values) error {
	var hidden []field
	for _, name := range []string{"client_id", "id_token_hint", "post_logout_redirect_uri", "state", "ui_locales"} {
		if form.Has(name) {
			hidden = append(hidden, field{name, form.Get(name)})
		}
	}
	return s.write(w, r, app, form, "Sign out", logoutPage, hidden)
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, app storage.App, form url.Values, title string, body *template.Template, hidden []field) error {
	lang := page.LangOf(r, form.Get("ui_locales"))
	var text strings.Builder
	if err := body.Execute(&text, logoutView{lang, pathLogout, hidden}); err != nil {
		return err
	}
	look := page.Look{Lang: lang, Title: lang.T(title), Brand: page.BrandOf(app)}
	if to := form.Get("post_logout_redirect_uri"); to != "" {
		look.FormActions = []string{storage.RedirectOrigin(to)}
	}
	return page.Write(w, http.StatusOK, look, template.HTML(text.String()))
}

// failPage shows a failure to the person in front of the browser.
func (s *Server) failPage(w http.ResponseWriter, r *http.Request, f *reply.Failure) {
	page.Fail(w, r, f.Status, "This request can not go on", f.Msg)
}
