package web

import (
	"net/url"

	"github.com/keystile/keystile/internal/page"
)

// Link leads from a page to another way to sign in, or to what its reader can change.
type Link struct {
	Path  string // where it begins; the authorize request goes along as the parameter query
	Label string // in English
	Post  bool   // it begins with a form, not with a link
	Of    string // the name for the %s of Label, the same in every language

	OtherDevice bool // it needs a phone beside this device, so it is hidden on a phone
}

// In is the label in a language.
func (w Link) In(l page.Lang) string {
	if w.Of == "" {
		return l.T(w.Label)
	}
	return l.T(w.Label, w.Of)
}

// links returns the ways as links that carry an authorize request along. Who has just
// scanned a code is not offered another one.
func (p *Pages) links(query string) []Link {
	var links []Link
	for _, w := range p.SignInLinks {
		if w.Path == QRPath && isScan(query) {
			continue
		}
		links = append(links, w.Carrying(query))
	}
	return links
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
