package web

import (
	"context"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/storage"
)

//go:embed alert.html failed.html form.html locked.html person.html
var files embed.FS

// The pages that more than one way to sign in shows.
var (
	FormPage   = Parse(files, "form")
	failedPage = Parse(files, "failed")
	lockedPage = Parse(files, "locked")
)

// Parse reads a page. Each can show its user with {{template "person.html" .}}, and an alert with
// {{template "alert.html" .Alert}}.
func Parse(from fs.FS, name string) *template.Template {
	return template.Must(template.Must(template.ParseFS(from, name+".html")).ParseFS(files, "alert.html", "person.html"))
}

// View holds what the templates of all pages see. A password is not among it.
type View struct {
	page.Lang
	Title     string // in English
	Username  string
	Alert     string // why the form is shown again
	AlertOnly bool   // the Alert is not about the form
	Lead      string // why to sign in, where that is not plain
	Name      string // of who is signed in
	Letter    string // in place of their picture

	Live bool // a script of the page asks the server how it goes
	Away bool // a form of the page leads to another provider

	// Filled in from the Context.
	App, Query, Host, Back string
	SignInLinks, HelpLinks []Link
}

func (v *View) common() *View { return v }

// viewer is a view, or a struct of a page that embeds one.
type viewer interface{ common() *View }

// Show writes a page of this context.
func (t Context) Show(w http.ResponseWriter, status int, body *template.Template, of viewer) error {
	v := of.common()
	v.Lang, v.App, v.Query, v.Back = t.Lang, t.Brand.Name, t.Query, Back(t.Query)
	v.SignInLinks, v.HelpLinks = t.signInLinks, t.helpLinks
	_, v.Host, _ = strings.Cut(t.Origin, "://")
	look := page.Look{Lang: t.Lang, Title: v.T(v.Title), Brand: t.Brand, Live: v.Live}
	if t.Origin != "" {
		look.FormActions = []string{t.Origin}
	}
	if v.Away {
		look.FormActions = append(look.FormActions, "https:") // providers send people on, nobody knows where to
	}
	return Write(w, status, look, body, of)
}

// Pages shows the pages of sign-in.
type Pages struct {
	apps        appStore
	sameOrigin  *http.CrossOriginProtection
	secure      bool
	SignInLinks []Link // to sign in, beside the password; as they stand on the page
	HelpLinks   []Link // on the sign-in page: to a password or a user
}

// New makes Pages of a service with an origin.
func New(apps appStore, origin string) (*Pages, error) {
	p := &Pages{apps: apps, sameOrigin: http.NewCrossOriginProtection(), secure: strings.HasPrefix(origin, "https:")}
	if err := p.sameOrigin.AddTrustedOrigin(origin); err != nil {
		return nil, fmt.Errorf("signin: BaseURL: %w", err)
	}
	return p, nil
}

// appStore knows the applications that people sign in to.
type appStore interface {
	App(ctx context.Context, id string) (storage.App, error)
}

// CheckOrigin refuses a form that another site has sent.
func (p *Pages) CheckOrigin(r *http.Request) error {
	if err := p.sameOrigin.Check(r); err != nil {
		return Foreign.Because(err)
	}
	return nil
}

// Write writes a page whose body a template says of v.
func Write(w http.ResponseWriter, status int, look page.Look, body *template.Template, v any) error {
	var out strings.Builder
	if err := body.Execute(&out, v); err != nil {
		return err
	}
	return page.Write(w, status, look, template.HTML(out.String()))
}

// ShowThrottled says how long somebody must wait who has failed too often (protocol 8): 429 with Retry-After.
// It is their network that must, or with account every browser in which nobody has signed in as the
// user that they try to be.
func (p *Pages) ShowThrottled(w http.ResponseWriter, r *http.Request, query string, wait time.Duration, account bool) error {
	t, err := p.Restore(r.Context(), r, query)
	if err != nil {
		return err
	}
	w.Header().Set("Retry-After", InSeconds(wait))
	alert := waitText(t.Lang, wait)
	if account {
		alert = t.Lang.T("There were too many failed attempts for this account. Try again in %s seconds, or in a browser that you have signed in with before.", InSeconds(wait))
	}
	return t.Show(w, http.StatusTooManyRequests, lockedPage, &View{Title: "Too many attempts", Alert: alert})
}

func waitText(l page.Lang, wait time.Duration) string {
	switch minutes := int(math.Ceil(wait.Minutes())); {
	case wait <= 10*time.Second:
		return l.T("There are too many attempts from your network at once. Wait a few seconds, then try again.")
	case minutes == 1:
		return l.T("There were too many failed attempts from your network. Wait a minute, then sign in again.")
	default:
		return l.T("There were too many failed attempts from your network. Wait %s minutes, then sign in again.", strconv.Itoa(minutes))
	}
}

// ShowFormWithAlert shows the sign-in page again, and why.
func (p *Pages) ShowFormWithAlert(w http.ResponseWriter, r *http.Request, status int, query, why string) error {
	t, err := p.Restore(r.Context(), r, query)
	if err != nil {
		return err
	}
	return t.Show(w, status, FormPage, &View{Title: "Sign-in failed", Alert: t.Lang.T(why), AlertOnly: true})
}
