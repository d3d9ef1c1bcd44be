// Package names judges and suggests names for capabilities.
package names

import (
	"slices"
	"strings"

	"github.com/keystile/keystile/internal/pattern"
)

// memberName matches the name of a capability. Clients see a tool as <member>__<name>, and the
// first __ separates the two.
var memberName = pattern.Lazy(`^[A-Za-z0-9][A-Za-z0-9_-]{0,47}$`)

// reservedNames lists the path segments of other endpoints of package registry.
var reservedNames = []string{"register", "preview"}

// Wrong returns what is wrong with the name of a capability, "" if nothing is.
func Wrong(name string) string {
	switch {
	case name == "":
		return "member is missing: give the capability a name"
	case !memberName().MatchString(name), strings.Contains(name, "__"), strings.HasSuffix(name, "_"):
		return "member is 1 to 48 of A-Z, a-z, 0-9, _ and -; it begins with a letter or digit, does not end in _ " +
			"and has no __"
	case slices.Contains(reservedNames, name):
		return "member: this name has a meaning here; choose another"
	}
	return ""
}

// mostSuggested bounds a name that is suggested, in characters: names of tools begin with it.
const mostSuggested = 24

// odd are the words of a title that say nothing of its service.
var odd = pattern.Lazy(`^(the|api|apis|rest|openapi|swagger|spec|specification|documentation|v?[0-9]+)$`)

// From returns a name for a capability made of the title of its document, such as petstore of "Swagger Petstore -
// OpenAPI 3.0"; "" if the title has no word for it.
func From(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return !('a' <= r && r <= 'z' || '0' <= r && r <= '9')
	})
	name := ""
	for _, word := range slices.DeleteFunc(words, odd().MatchString) {
		if name != "" {
			word = name + "-" + word
		}
		if len(word) > mostSuggested {
			break
		}
		name = word
	}
	if Wrong(name) != "" {
		return ""
	}
	return name
}
