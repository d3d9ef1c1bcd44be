package ui

import (
	"context"
	"net/http"
	"net/url"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/consoleauth"
	"github.com/keystile/keystile/internal/page"
)

// Action reads or does something for an identified person, and returns what to show. It reads
// fields with adminapi.ReadFields, whoever sent them. w is there to bound what is read.
type Action func(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error)

// API is an endpoint for programs.
type API struct {
	Path    string
	Methods map[string]Action   // GET serves HEAD too
	Owned   bool                // everybody has their own there, so no role is needed
	May     []consoleauth.Check // beside what the guard demands
	Changes []consoleauth.Check // of what is no GET, in place of May, beside a fresh sign-in; nil: May
	Raw     map[string]Raw      // what is not answered as a record
}

// Raw answers by itself, with a file for example.
type Raw func(w http.ResponseWriter, r *http.Request, who admin.Actor) error

// Begin waits until a form of a user (a sub) may be read into memory, and returns the ctx to act on it with.
// leave is called when it has been answered.
type Begin func(ctx context.Context, sub string) (_ context.Context, leave func(), err error)

// Page is a page for people.
type Page struct {
	Path     string // such as /console/users/{sub}, with the path values of the API
	Title    string // in English; also the text in the navigation
	Section  string // of the navigation; "": not in it
	Owned    bool   // everybody has their own there, so no role is needed
	May      []consoleauth.Check
	Get      Action         // nil: there is nothing to look at, only forms of other pages are sent here
	Template *page.Template // made by Parse; shown a View whose Data is what Get returned
	Acts     map[string]Act // by the value of the form's field "do"
	MaxForm  int64          // bytes of a form, its files included; 0: 64 KiB
	Begin    Begin          // called before a form is read; nil: it is read at once
	// Of returns the name of a page's subject, such as a user, if its reader may see it; nil: the values of its
	// path are it.
	Of func(r *http.Request, who admin.Actor) (string, error)
	// Names returns the applications (client_ids) and the users (subs) that the page names, given what Get, or Do of an
	// act with a Result, returned: View.Who and View.App know what they are called then. nil: none.
	Names func(data any) (apps, users []string)
	// Tabs are those of the page's subject, which each page of it has. Their paths are those of pages, with the same path
	// values; those that the reader may not open are left out.
	Tabs []Tab

	texts Texts // of its part
}

// Tab is one of several pages about the same subject.
type Tab struct {
	Title string // in English
	Path  string // such as /console/users/{sub}/sessions
}

// ToolTabs are those of an API, whose pages two parts bring.
var ToolTabs = []Tab{
	{"Overview", "/console/capabilities/{member}"}, {"Tools", "/console/capabilities/{member}/tools"},
	{"Permissions", "/console/access/{member}"}, {"Settings", "/console/capabilities/{member}/edit"},
	{"Activity", "/console/capabilities/{member}/deliveries"}, {"Danger", "/console/capabilities/{member}/danger"},
}

// Told holds what a page says of an act, once.
type Told struct {
	Text  string   // in English, with a %s for each of Args
	Args  []any    // filled in as they are
	Amber bool     // it is done, and its reader should look at something
	List  []string // what they should look at, at most 200 lines
}

// Act describes what a form on a page does.
type Act struct {
	Do     Action
	May    []consoleauth.Check    // beside those of the page and a fresh sign-in
	Stale  bool                   // does without the fresh sign-in: it changes nothing that matters
	Fields map[string]Kind        // of the form, as the Action reads them; others are ignored
	Says   string                 // what the act is, in English: whoever confirms who they are reads it before it is done
	Done   string                 // what the page says afterwards, in English
	Tells  func(result any) *Told // says more than Done, given what Do returned; nil, or returning nil: Done
	// To returns where the browser goes afterwards, given the result and the path of the page; nil: the page again.
	To func(result any, path string) string
	// Result is shown once, such as a secret, at the address that To gives: Data is what Do returned.
	Result *page.Template
	// Again says that the Result is no secret: the address shows it as often as it is asked for, until the form is old.
	Again bool
	File  func(w http.ResponseWriter, result any) error // writes what Do returned, in place of a redirect
}

// Kind says how a field of a form becomes JSON.
type Kind int

// Kinds of fields.
const (
	Text     Kind = iota // also if it is empty
	Optional             // a text; left out if it is empty
	Lines                // a list of texts, one on each line; empty lines are dropped
	Bool                 // a checkbox: true if it is there
	Number               // left out if it is empty
	JSON                 // as it was typed; left out if it is empty
	Choices              // a list of texts: the values of all fields of that name
)

// Part holds what a package brings to the console.
type Part struct {
	APIs  []API
	Pages []Page
	Texts Texts
}

// Texts are translations into Chinese by the English text.
type Texts map[string]string

// With returns the address of a page with one parameter of its query changed; "" removes it.
func With(u *url.URL, name, value string) string {
	q := u.Query()
	q.Del("done")
	q.Del("shown")
	if name != "after" && name != "lang" {
		q.Del("after") // what narrows a list begins it anew
	}
	if q.Set(name, value); value == "" {
		q.Del(name)
	}
	if len(q) == 0 {
		return u.Path
	}
	return u.Path + "?" + q.Encode()
}
