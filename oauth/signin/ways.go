package signin

import (
	"net/url"

	"github.com/keystile/keystile/internal/page"
)

// way is one more way to sign in than the password. The page offers it as a link.
type way struct {
	Path  string // where it begins; the authorize request goes along as the parameter query
	Label string // in English
	Post  bool   // it begins with a form, not with a link
	Of    string // what is called so in every language, for the %s of Label
}

// In is the label in a language.
func (w way) In(l page.Lang) string {
	if w.Of == "" {
		return l.T(w.Label)
	}
	return l.T(w.Label, w.Of)
}

// waysFor returns the ways as links that carry an authorize request along. Who has just
// scanned a code is not offered another one.
func (p *pages) waysFor(query string) []way {
	var links []way
	for _, w := range p.offered {
		if w.Path == qrPath && isScan(query) {
			continue
		}
		links = append(links, w.carrying(query))
	}
	return links
}

func carrying(ways []way, query string) []way {
	links := make([]way, len(ways))
	for i, w := range ways {
		links[i] = w.carrying(query)
	}
	return links
}

func (w way) carrying(query string) way {
	if query != "" {
		w.Path += "?" + url.Values{"query": {query}}.Encode()
	}
	return w
}
