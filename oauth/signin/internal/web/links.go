package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/storage"
)

// Link is a link on a page, to a sign-in method or to a page that changes the account.
type Link struct {
	Path  string // the target; the authorize request is appended as the parameter query
	Label string // in English
	Post  bool   // it is a form, not a link
	Of    string // the name for the %s of Label, the same in every language

	Method string // whose mark it has, see Mark; the last one that was used comes first

	OtherDevice bool // it needs a phone beside this device, so it is hidden on a phone
}

// In returns the label in a language.
func (w Link) In(l page.Lang) string {
	if w.Of == "" {
		return l.T(w.Label)
	}
	return l.T(w.Label, w.Of)
}

// links returns the sign-in links with an authorize request. After the scan of a code the link to
// scan another one is left out. The way that was last used in this browser comes first.
func (p *Pages) links(r *http.Request, query string) []Link {
	var links []Link
	for _, w := range p.SignInLinks {
		if w.Path == QRPath && isScan(query) {
			continue
		}
		links = append(links, w.Carrying(query))
	}
	lastFirst(links, r)
	return links
}

// LinkOf returns the sign-in link of a method, a zero one if the page has none.
func (p *Pages) LinkOf(method string) Link {
	if i := slices.IndexFunc(p.SignInLinks, func(w Link) bool { return w.Method == method }); i >= 0 {
		return p.SignInLinks[i]
	}
	return Link{}
}

func carrying(links []Link, query string) []Link {
	out := make([]Link, len(links))
	for i, w := range links {
		out[i] = w.Carrying(query)
	}
	return out
}

// Carrying returns the link with an authorize request in its parameter query.
func (w Link) Carrying(query string) Link {
	if query != "" {
		w.Path += "?" + url.Values{"query": {query}}.Encode()
	}
	return w
}

// paramAgain asks the provider behind a link to have its user sign in once more. Forging it only makes the
// provider ask.
const paramAgain = "again"

// Again returns the page with links to providers that are asked to have their user sign in once more.
func (t Context) Again() Context {
	t.signInLinks = slices.Clone(t.signInLinks)
	for i, w := range t.signInLinks {
		if !strings.HasPrefix(w.Path, WithPath) {
			continue
		}
		and := "?"
		if strings.Contains(w.Path, "?") {
			and = "&"
		}
		t.signInLinks[i].Path += and + paramAgain + "=1"
	}
	return t
}

// IsAgain reports whether a request has come by a link of a page that is Again.
func IsAgain(r *http.Request) bool { return r.URL.Query().Has(paramAgain) }

// ByEmail reports whether a link leads to a code by email.
func (w Link) ByEmail() bool { return w.Method == storage.LoginEmail }
