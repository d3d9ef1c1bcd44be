package web

import (
	"cmp"
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

//go:embed about.html alert.html form.html locked.html passkey.html person.html show.html
var files embed.FS

// The pages that several sign-in methods share.
var (
	FormPage   = Parse(files, "form")
	lockedPage = Parse(files, "locked")
)

// Parse reads a page. Each can show its user with {{template "person.html" .}}, what a form does that is kept with
// {{template "about.html" .}}, an alert with
// {{template "alert.html" .Alert}}, and what is typed into its fields of a password, each in an element of class
// secret, with {{template "show.html" .}} and the Secret of its View; and the button to sign in with a passkey with
// {{template "passkey.html" .}}.
func Parse(from fs.FS, name string) *page.Template {
	return page.Lazily(func() *template.Template {
		return template.Must(template.Must(template.ParseFS(from, name+".html")).ParseFS(files, "about.html", "alert.html",
			"passkey.html", "person.html", "show.html"))
	})
}

// View holds the data of the templates of all pages. It never holds a password.
type View struct {
	page.Lang
	Title     string // in English
	Username  string
	Alert     string // the reason why the form is shown again
	AlertOnly bool   // the Alert is not about the form
	Lead      string // the reason to sign in, where it is not obvious
	Name      string // of the signed-in user
	Letter    string // in place of the user's picture

	Live     bool // a script of the page asks the server how it goes
	Away     bool // a form of the page leads to another provider
	Wide     bool // there is much on the page
	Scripted bool // the page has a script that asks nobody

	Secret bool // the page has a field for a password, and the script that can show what is typed

	Passkeys  bool // on the sign-in page: there is a button for passkeys
	Meanwhile bool // the page says to wait, and offers what need not: a passkey and a code by email
	AtOnce    bool // on the sign-in page: the script asks for a passkey at once, and its button comes first
	Confirm   bool // on the sign-in page: its user is signed in, and confirms that it is they

	// Filled in from the Context.
	App, Query, Host, Back string
	SignInLinks, HelpLinks []Link
	About                  About
}

func (v *View) common() *View { return v }

// viewer is a *View, or a struct of a page that embeds View.
type viewer interface{ common() *View }

// Show writes a page of this context.
func (t Context) Show(w http.ResponseWriter, status int, body *page.Template, of viewer) error {
	v := of.common()
	v.Lang, v.App, v.Query, v.Back = t.Lang, t.Brand.Name, t.Query, Back(t.Query)
	v.SignInLinks, v.HelpLinks, v.About = t.signInLinks, t.helpLinks, t.About
	_, v.Host, _ = strings.Cut(t.Origin, "://")
	if body == FormPage {
		v.Lead = cmp.Or(v.Lead, t.lead)
		if v.Alert == "" && t.trouble != "" {
			v.Alert, v.AlertOnly = t.trouble, true
		}
	}
	v.Secret = v.Secret || body == FormPage
	if t.passkeys && (body == FormPage || v.Meanwhile) {
		v.Passkeys, v.Live = true, true
	}
	look := page.Look{Lang: t.Lang, Title: v.T(v.Title), Brand: t.Brand, Live: v.Live, Scripted: v.Secret || v.Scripted,
		Wide: v.Wide, Leaves: v.Away || t.Origin != ""}
	return Write(w, status, look, body, of)
}

// Pages shows the pages of sign-in.
type Pages struct {
	apps        appStore
	sameOrigin  *http.CrossOriginProtection
	secure      bool
	SignInLinks []Link // to sign in, beside the password; as they stand on the page
	Passkeys    bool   // users can sign in with passkeys
	HelpLinks   []Link // on the sign-in page: to a password or a user

	// tells what the form does that a query goes on with; nil: there are none
	Kept func(r *http.Request, query string) About
}

// New makes Pages of a service with an origin.
func New(apps appStore, origin string) (*Pages, error) {
	p := &Pages{apps: apps, sameOrigin: http.NewCrossOriginProtection(), secure: strings.HasPrefix(origin, "https:")}
	if err := p.sameOrigin.AddTrustedOrigin(origin); err != nil {
		return nil, fmt.Errorf("signin: BaseURL: %w", err)
	}
	return p, nil
}

// appStore finds applications.
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

// Write writes a page with the body that a template makes of v.
func Write(w http.ResponseWriter, status int, look page.Look, body *page.Template, v any) error {
	var out strings.Builder
	if err := body.Execute(&out, v); err != nil {
		return err
	}
	return page.Write(w, status, look, template.HTML(out.String()))
}

// ShowThrottled shows how long to wait after too many failures (protocol 8): 429 with Retry-After.
// The wait is for the network, or with account for all browsers that are not known to the account.
func (p *Pages) ShowThrottled(w http.ResponseWriter, r *http.Request, query string, wait time.Duration,
	account bool) error {
	t, err := p.Restore(r.Context(), r, query)
	if err != nil {
		return err
	}
	w.Header().Set("Retry-After", InSeconds(wait))
	alert := waitText(t.Lang, wait)
	if account {
		alert = t.Lang.T("There were too many failed attempts for this account. Try again in %s seconds, or in a browser "+
			"that you have signed in with before.", InSeconds(wait))
	}
	return t.Show(w, http.StatusTooManyRequests, lockedPage, &View{Title: "Too many attempts", Alert: alert,
		Meanwhile: account})
}

func waitText(l page.Lang, wait time.Duration) string {
	switch minutes := int(math.Ceil(wait.Minutes())); {
	case wait <= 10*time.Second:
		return l.T("There are too many attempts from your network at once. Wait a few seconds, then try again.")
	case minutes == 1:
		return l.T("There were too many failed attempts from your network. Wait a minute, then sign in again.")
	default:
		return l.T("There were too many failed attempts from your network. Wait %s minutes, then sign in again.",
			strconv.Itoa(minutes))
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
