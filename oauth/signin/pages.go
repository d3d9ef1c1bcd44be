package signin

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

//go:embed form.html locked.html person.html
var files embed.FS

// The pages that more than one way to sign in shows.
var (
	formPage   = parse(files, "form")
	lockedPage = parse(files, "locked")
)

// parse reads a page. Each may show the person it is about with {{template "person.html" .}}.
func parse(from fs.FS, name string) *template.Template {
	return template.Must(template.Must(template.ParseFS(from, name+".html")).ParseFS(files, "person.html"))
}

// view is what the templates see. A password is not among it.
type view struct {
	page.Lang
	Title    string // in English
	Username string
	Alert    string // why the form is shown again
	Astray   bool   // the Alert is not about the form
	Lead     string // why to sign in, where that is not plain
	Name     string // of who is signed in
	Letter   string // in place of their picture

	Live bool // a script of the page asks the server how it goes
	Away bool // a form of the page leads to another provider

	// Filled in from the pageContext.
	App, Query, Host, Back string
	Ways, Helps            []way
}

func (v *view) common() *view { return v }

// viewer is a view, or a struct of a page that embeds one.
type viewer interface{ common() *view }

// show writes a page of this context.
func (t pageContext) show(w http.ResponseWriter, status int, body *template.Template, of viewer) error {
	v := of.common()
	v.Lang, v.App, v.Query, v.Back = t.lang, t.brand.Name, t.query, back(t.query)
	v.Ways, v.Helps = t.ways, t.helps
	_, v.Host, _ = strings.Cut(t.origin, "://")
	look := page.Look{Lang: t.lang, Title: v.T(v.Title), Brand: t.brand, Live: v.Live}
	if t.origin != "" {
		look.FormActions = []string{t.origin}
	}
	if v.Away {
		look.FormActions = append(look.FormActions, "https:") // providers send people on, nobody knows where to
	}
	return write(w, status, look, body, of)
}

// pages shows the pages of sign-in.
type pages struct {
	apps       apps
	sameOrigin *http.CrossOriginProtection
	secure     bool
	offered    []way // to sign in, beside the password; as they stand on the page
	helps      []way // on the sign-in page: to a password or a user
}

func newPages(apps apps, origin string) (*pages, error) {
	p := &pages{apps: apps, sameOrigin: http.NewCrossOriginProtection(), secure: strings.HasPrefix(origin, "https:")}
	if err := p.sameOrigin.AddTrustedOrigin(origin); err != nil {
		return nil, fmt.Errorf("signin: BaseURL: %w", err)
	}
	return p, nil
}

// apps knows the applications that people sign in to.
type apps interface {
	App(ctx context.Context, id string) (storage.App, error)
}

// checkOrigin refuses a form that another site has sent.
func (p *pages) checkOrigin(r *http.Request) error {
	if err := p.sameOrigin.Check(r); err != nil {
		return foreign.Because(err)
	}
	return nil
}

// write writes a page whose body a template says of v.
func write(w http.ResponseWriter, status int, look page.Look, body *template.Template, v any) error {
	var out strings.Builder
	if err := body.Execute(&out, v); err != nil {
		return err
	}
	return page.Write(w, status, look, template.HTML(out.String()))
}

// sayHeld says how long somebody must wait who has failed too often (spec 8): 429 with Retry-After.
// It is their network that must, or with account every browser in which nobody has signed in as the
// user that they try to be.
func (p *pages) sayHeld(w http.ResponseWriter, r *http.Request, query string, wait time.Duration, account bool) error {
	t, err := p.restore(r.Context(), r, query)
	if err != nil {
		return err
	}
	w.Header().Set("Retry-After", inSeconds(wait))
	alert := waitText(t.lang, wait)
	if account {
		alert = t.lang.T("There were too many failed attempts for this account. Try again in %s seconds, or in a browser that you have signed in with before.", inSeconds(wait))
	}
	return t.show(w, http.StatusTooManyRequests, lockedPage, &view{Title: "Too many attempts", Alert: alert})
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

// sayAgain shows the sign-in page again, and why.
func (p *pages) sayAgain(w http.ResponseWriter, r *http.Request, status int, query, why string) error {
	t, err := p.restore(r.Context(), r, query)
	if err != nil {
		return err
	}
	return t.show(w, status, formPage, &view{Title: "Sign-in failed", Alert: t.lang.T(why), Astray: true})
}
