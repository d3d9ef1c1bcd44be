package ui

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/internal/cookies"
	"github.com/keystile/keystile/internal/page"
)

//go:embed frame.html shared.html tools.html connect.html fail.html plot.html
var own embed.FS

var (
	frame = page.Lazily(func() *template.Template {
		return template.Must(template.New("").Funcs(funcs).ParseFS(own, "frame.html"))
	})
	shared = page.Lazily(func() *template.Template { // it is cloned, so never executed
		return template.Must(template.New("").Funcs(funcs).ParseFS(own, "shared.html", "tools.html",
			"connect.html"))
	})
	failPage = Parse(own, "fail.html")
)

var funcs = template.FuncMap{"list": func(all ...any) []any { return all }}

// Parse reads the template of a page, which may use those of shared.html and those that other files define: its own
// text is the content below the heading.
func Parse(from fs.FS, name string, others ...string) *page.Template {
	return page.Lazily(func() *template.Template {
		text, err := fs.ReadFile(from, name)
		if err != nil {
			panic(err)
		}
		t := template.Must(shared.Parsed().Clone())
		if len(others) > 0 {
			template.Must(t.ParseFS(from, others...))
		}
		return template.Must(t.New("content").Parse(string(text)))
	})
}

// View holds what the template of a page shows. Data is the record.
type View struct {
	Lang   page.Lang
	Actor  admin.Actor
	Title  string // in English
	Data   any
	Notice string   // what was done
	Amber  bool     // the Notice asks its reader to look at something
	List   []string // of the Notice
	Alert  string   // what is wrong
	Tabs   []Link
	Name   string // of the service
	URL    *url.URL
	Now    time.Time
	Nav    []Section

	texts       []Texts   // the first that has a text translates it: the part's own, then those of all parts
	problems    []problem // the errors with values in them
	typed       url.Values
	mcp         string            // the address of the MCP server
	wrong       string            // the field that Alert is about
	apps, users map[string]string // what those of Page.Names are called
	content     template.HTML     // what stands in the frame
}

// Content returns what stands in the frame.
func (v *View) Content() template.HTML { return v.content }

// Section is a part of the navigation.
type Section struct {
	Title string
	Links []Link
}

// Link leads to a page.
type Link struct {
	Title, Path string
	Here        bool
}

func (s *Server) view(r *http.Request, p Page, who admin.Actor) *View {
	v := &View{Lang: langOf(r), Actor: who, Title: p.Title, Name: s.c.Name, URL: r.URL, Now: time.Now(),
		texts: []Texts{p.texts, s.texts}, problems: s.problems(), mcp: s.c.MCP}
	if did, ok := p.Acts[r.URL.Query().Get("done")]; ok && r.Method != http.MethodPost {
		v.Notice = v.T(did.Done)
	}
	for _, t := range p.Tabs {
		i := slices.IndexFunc(s.pages, func(q Page) bool { return q.Path == t.Path })
		if i < 0 || slices.ContainsFunc(s.pages[i].May, func(c consoleauth.Check) bool { return c(who) != nil }) {
			continue
		}
		at := inPath().ReplaceAllStringFunc(t.Path, func(in string) string {
			return url.PathEscape(r.PathValue(strings.Trim(in, "{}")))
		})
		v.Tabs = append(v.Tabs, Link{v.T(t.Title), at, t.Path == p.Path})
	}
	for _, q := range s.pages {
		if q.Section == "" || !q.Owned && who.Reader() != nil && who.Developer() != nil ||
			slices.ContainsFunc(q.May, func(c consoleauth.Check) bool { return c(who) != nil }) {
			continue
		}
		i := slices.IndexFunc(v.Nav, func(have Section) bool { return have.Title == q.Section })
		if i < 0 {
			i = len(v.Nav)
			v.Nav = append(v.Nav, Section{Title: q.Section})
		}
		here := r.URL.Path == q.Path || q.Path != Root && strings.HasPrefix(r.URL.Path, q.Path+"/")
		v.Nav[i].Links = append(v.Nav[i].Links, Link{v.translate(q.Title, q.texts, s.texts),
			strings.TrimSuffix(q.Path, "{$}"), here || q.Path == Root+"{$}" && r.URL.Path == Root})
	}
	return v
}

// langCookie holds the language that a reader has chosen for the console.
const langCookie = cookies.Language

// langOf returns the language that a reader has chosen, now or before, or that their browser asks for.
func langOf(r *http.Request) page.Lang {
	chosen := r.URL.Query().Get("lang")
	if c, err := r.Cookie(langCookie); err == nil && chosen == "" {
		chosen = c.Value
	}
	return page.LangOf(r, chosen)
}

// Other returns the language that the page is not in.
func (v *View) Other() string {
	if v.Lang == page.Chinese {
		return string(page.English)
	}
	return string(page.Chinese)
}

// T returns a text in the reader's language, with its %s filled in.
func (v *View) T(text string, args ...any) string {
	text = v.translate(text, v.texts...)
	if len(args) == 0 {
		return text
	}
	filled := make([]any, len(args))
	for i, a := range args {
		if there, ok := a.(*string); ok && there != nil { // a field of a record that may be null
			a = *there
		}
		filled[i] = fmt.Sprint(a)
	}
	return fmt.Sprintf(text, filled...)
}

func (v *View) translate(text string, by ...Texts) string {
	for _, texts := range by {
		if zh, ok := texts[text]; ok && v.Lang == page.Chinese {
			return zh
		}
	}
	return v.Lang.T(text)
}

// FormID returns the id of one more form on this page.
func (v *View) FormID() string { return v.FormIDAt(v.URL.Path) }

// FormIDAt is FormID of a form that is sent to another page.
func (v *View) FormIDAt(path string) string { return newFormID(v.Actor.Session, path, v.Now) }

// Typed returns what was typed into a field of a form that was refused, and otherwise what there is.
func (v *View) Typed(name string, is any) string {
	if v.typed != nil {
		return v.typed.Get(name)
	}
	switch is := is.(type) {
	case []string:
		return strings.Join(is, "\n")
	case nil:
		return ""
	}
	return fmt.Sprint(is)
}

// Ticked reports whether a checkbox is to be ticked.
func (v *View) Ticked(name string, is bool) bool {
	if v.typed != nil {
		return v.typed.Has(name)
	}
	return is
}

// At returns the address of this page with one parameter of its query changed; see With.
func (v *View) At(name, value string) string { return With(v.URL, name, value) }

// Query returns a parameter of the page's address.
func (v *View) Query(name string) string { return v.URL.Query().Get(name) }

// Num writes a number with separators between thousands.
func (v *View) Num(n any) string {
	text := fmt.Sprint(n)
	digits := strings.TrimPrefix(text, "-")
	if _, err := strconv.ParseUint(digits, 10, 64); err != nil {
		return text
	}
	var out strings.Builder
	for i, c := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out.WriteByte(',')
		}
		out.WriteRune(c)
	}
	return strings.TrimSuffix(text, digits) + out.String()
}

// render answers with the template of a page in the frame.
func (s *Server) render(w http.ResponseWriter, r *http.Request, status int, p Page, t *page.Template, v *View) error {
	if err := s.fill(r, p, t, v); err != nil {
		return err
	}
	return s.write(w, status, v)
}

// fill makes the content of a page.
func (s *Server) fill(r *http.Request, p Page, t *page.Template, v *View) (err error) {
	if p.Names != nil {
		apps, users := p.Names(v.Data)
		if v.apps, v.users, err = s.c.Names.Of(r.Context(), v.Actor.User, apps, users); err != nil {
			return err
		}
	}
	var buf bytes.Buffer
	if err := t.Parsed().ExecuteTemplate(&buf, "content", v); err != nil {
		return fmt.Errorf("console: %w", err)
	}
	v.content = marked(template.HTML(buf.String()), v.wrong)
	return nil
}

// write answers with the content in the frame.
func (s *Server) write(w http.ResponseWriter, status int, v *View) error {
	var buf bytes.Buffer
	if err := frame.Parsed().ExecuteTemplate(&buf, "frame", v); err != nil {
		return fmt.Errorf("console: %w", err)
	}
	h := w.Header()
	if v.URL.Query().Has("lang") {
		http.SetCookie(w, &http.Cookie{Name: langCookie, Value: string(v.Lang), Path: Root, MaxAge: 365 * 86400,
			HttpOnly: true, SameSite: http.SameSiteLaxMode})
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Language", string(v.Lang))
	h.Set("Content-Length", strconv.Itoa(buf.Len()))
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(buf.Bytes()) // a reader who has gone away is no failure of ours
	return nil
}

// Shown cuts a text that others may have written, and drops what cannot be seen in it.
func Shown(text string, most int) string {
	text = page.Shown(strings.ToValidUTF8(text[:min(len(text), 4*most)], ""))
	if letters := []rune(text); len(letters) > most {
		return string(letters[:most]) + "…"
	}
	return text
}

// policy is the Content-Security-Policy of every page: nothing but files of ours, no script that
// stands in a page, and no markup made by a script.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
