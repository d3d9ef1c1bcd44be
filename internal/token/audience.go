package token

import (
	"slices"
	"strings"
)

const maxBelow = 48 // bytes of a name right below an entry that ends in a slash

// IsOneOf reports whether what a token is meant for is on a list of URIs (RFC 8707). An entry
// that ends in a slash stands for every name right below it: 1 to 48 of A-Z a-z 0-9 _ -. That
// is for resources that come and go, and is no proof that there is one of that name.
func IsOneOf(audience string, list []string) bool {
	return slices.ContainsFunc(list, func(entry string) bool {
		if !strings.HasSuffix(entry, "/") {
			return audience == entry
		}
		name, below := strings.CutPrefix(audience, entry)
		return below && isName(name)
	})
}

func isName(text string) bool {
	return text != "" && len(text) <= maxBelow && !strings.ContainsFunc(text, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
	})
}
