package oauth

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// notAdmitted is the error of a request whose user the application does not admit.
type notAdmitted struct{ who storage.User }

func (*notAdmitted) Error() string { return event.DetailNotAdmitted }

// admitted returns a *notAdmitted if the Admission of an application keeps a user (a sub) from it: as an administrator
// has set it, and as the user's groups are now. It reads nothing for an application without one.
func (v visitors) admitted(ctx context.Context, app storage.App, sub string) error {
	if app.Admission == nil {
		return nil
	}
	who, err := v.c.Users.User(ctx, sub)
	if errors.Is(err, storage.ErrNotFound) { // gone since the session was read
		return &notAdmitted{storage.User{Sub: sub}}
	}
	if err != nil {
		return err
	}
	if ok, err := v.store.Admits(ctx, app, who); ok || err != nil {
		return err
	}
	return &notAdmitted{who}
}

// untold returns the error of a request as it is for an application that may ask the user nothing: of a user who is
// not admitted, it is told at once.
func (v visitors) untold(r *http.Request, app storage.App, err error, never bool) error {
	var kept *notAdmitted
	if never && errors.As(err, &kept) {
		v.noteNotAdmitted(r, app, kept.who)
		return mayNotUse
	}
	return err
}

func (v visitors) noteNotAdmitted(r *http.Request, app storage.App, who storage.User) {
	e := v.newEvent(r, event.Consent)
	e.App, e.User, e.Detail, e.Status = app.ID, who.Sub, event.DetailNotAdmitted, http.StatusForbidden
	v.c.Audit.Note(*e)
}

//go:embed notadmitted.html
var notAdmittedText string

var notAdmittedPage = page.Lazily(func() *template.Template {
	return template.Must(template.New("notadmitted").Parse(notAdmittedText))
})

// notAdmittedView holds what the page says to a user who is not admitted.
type notAdmittedView struct {
	page.Lang
	Who, App, Host string
	Back           template.URL // AllowsRedirect has passed where it leads
	Other          string       // where somebody else signs in; "": the application asks for this user alone
}

// keepOut answers with the page for a user who is not admitted: who they are, which application it is, and what to do.
// Its link leads to back, which tells the application.
func (v visitors) keepOut(w http.ResponseWriter, r *http.Request, app storage.App, form url.Values, who storage.User,
	back string) error {
	v.noteNotAdmitted(r, app, who)
	lang := page.LangOf(r, form.Get("ui_locales"))
	view := notAdmittedView{Lang: lang, Who: page.Shown(cmp.Or(who.Username, who.Nickname, who.Name, who.Sub)),
		App: page.Shown(app.Name), Host: hostOf(form.Get("redirect_uri")), Back: template.URL(back),
		Other: asOther(form)}
	if app.Client != nil { // its name is what it says of itself
		view.App = view.Host
	}
	var body strings.Builder
	if err := notAdmittedPage.Execute(&body, view); err != nil {
		return err
	}
	look := page.Look{Lang: lang, Title: lang.T("You may not use this application"), Brand: page.BrandOf(app)}
	return page.Write(w, http.StatusForbidden, look, template.HTML(body.String()))
}

// promptOther asks for a sign-in by another account (OpenID Connect Core 3.1.2.1).
const promptOther = "select_account"

// asOther returns the address of an authorize request for which the user signs in once more, as whoever they like.
func asOther(form url.Values) string {
	if form.Has("id_token_hint") {
		return ""
	}
	again := maps.Clone(form)
	for _, name := range []string{"sign", "timestamp", paramLed} {
		again.Del(name)
	}
	again.Set("prompt", promptOther)
	if slices.Contains(strings.Fields(form.Get("prompt")), "consent") {
		again.Set("prompt", promptOther+" consent")
	}
	return pathAuthorize + "?" + again.Encode()
}
