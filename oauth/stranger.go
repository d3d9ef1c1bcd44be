package oauth

import (
	_ "embed"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
)

// The checks here are for applications that no administrator registered and that the visitor has not consented
// to: anybody can make one, so a browser is never sent on to it without a page between (decision 95, RFC 9700
// 4.11.2).

// interactionRequired answers prompt=none for such an application. It is the same whether or not a person is
// signed in: any page on the web could otherwise find that out.
var interactionRequired = badRequest.Named("interaction_required").Saying("the user has to sign in and to allow " +
	"this, and prompt=none forbids to ask")

// trusts reports whether the visitor may be sent on to an application: one that was registered here, or that
// they have consented to. It looks up as much for nobody as for a person.
func (v visitors) trusts(r *http.Request, app storage.App) (bool, error) {
	switch {
	case app.Client == nil:
		return true, nil
	case v.c.Consent == nil:
		return false, nil
	}
	who, err := v.c.SignIn.Visitor(r)
	if errors.Is(err, storage.ErrNotFound) {
		v.c.Consent.Allowed(r.Context(), app, "nobody", "")
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, ok, err := v.c.Consent.Allowed(r.Context(), app, who.UserID, "")
	return ok, err
}

// refuse tells an application that its authorize request is refused: by a redirect, or on a page with a link to
// where the redirect would lead.
//
// An application on such a page gets interaction_required in place of login_required and consent_required.
func (a *authorizer) refuse(w http.ResponseWriter, r *http.Request, app storage.App, form url.Values,
	refused *reply.Failure) error {
	to := a.answerAt(form.Get("redirect_uri"), "error", refused.OAuth, "error_description", refused.Msg, "state",
		form.Get("state"))
	switch trusted, err := a.trusts(r, app); {
	case err != nil:
		return err
	case trusted:
		return reply.Found(w, to)
	}
	return a.writeStranger(w, r, app, form, refused, to)
}

// asked returns what became of asking the visitor something. An application whose request is too long to be kept until
// they have answered would wait for ever: it is told.
func (a *authorizer) asked(w http.ResponseWriter, r *http.Request, app storage.App, form url.Values, err error) error {
	if no, ok := errors.AsType[*reply.Failure](err); ok && no.Status == http.StatusBadRequest {
		return a.refuse(w, r, app, form, tooLong.Because(no))
	}
	return err
}

//go:embed stranger.html
var strangerText string

var strangerPage = page.Lazily(func() *template.Template {
	return template.Must(template.New("stranger").Parse(strangerText))
})

type strangerView struct {
	page.Lang
	Title, Message, Detail, Host string
	Back                         template.URL // AllowsRedirect has passed it
}

func (a *authorizer) writeStranger(w http.ResponseWriter, r *http.Request, app storage.App, form url.Values,
	refused *reply.Failure, to string) error {
	lang := page.LangOf(r, form.Get("ui_locales"))
	v := strangerView{Lang: lang, Title: "This request cannot go on", Host: hostOf(form.Get("redirect_uri")),
		Back: template.URL(to)}
	message := "The application at %s asked wrongly."
	if client.IsLoopback(form.Get("redirect_uri")) {
		message = "A program on this device, at %s, asked wrongly."
	}
	switch refused.Msg {
	case accessDenied.Msg:
		v.Title, message = "You did not allow access", "Nothing was given to the application at %s."
	case interactionRequired.Msg:
		message = "The application at %s wants to go on without asking you. That is not possible until you have signed in " +
			"for it and allowed it here."
	default:
		v.Detail = refused.OAuth + ": " + refused.Msg
	}
	v.Message = lang.T(message, v.Host)
	var body strings.Builder
	if err := strangerPage.Execute(&body, v); err != nil {
		return err
	}
	look := page.Look{Lang: lang, Title: lang.T(v.Title), Brand: page.BrandOf(app)}
	return page.Write(w, http.StatusBadRequest, look, template.HTML(body.String()))
}

// hostOf returns where a checked redirect_uri leads: a host, or a private-use scheme with its colon.
func hostOf(redirectURI string) string {
	origin := storage.RedirectOrigin(redirectURI)
	if _, host, ok := strings.Cut(origin, "://"); ok {
		return host
	}
	return origin
}
