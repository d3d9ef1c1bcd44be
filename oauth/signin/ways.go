package signin

import "net/url"

// way is one more way to sign in than the password. The page offers it as a link.
type way struct {
	Path  string // where it begins; the authorize request goes along as the parameter query
	Label string // in English
}

// waysFor returns the ways as links that carry an authorize request along.
func (s *SignIn) waysFor(query string) []way {
	links := make([]way, len(s.offered))
	for i, w := range s.offered {
		links[i] = w
		if query != "" {
			links[i].Path += "?" + url.Values{"query": {query}}.Encode()
		}
	}
	return links
}
