// Package formwords tells people what was typed into a form, before they confirm that it is done: the names and the
// values of its fields, cut, without what is secret and without what no reader could see.
package formwords

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/internal/pattern"
)

// Field is one field, as it is shown.
type Field struct{ Name, Value string }

const (
	maxFields = 24
	maxValue  = 200 // characters
)

// hidden are parts of the names of fields whose values are shown nowhere.
var hidden = pattern.Lazy(`(?i)passw|secret|token|credential|assertion|` +
	`^current$|^code$|^recovery$|^arguments$|^document$`)

// technical are the fields that a page adds for itself.
var technical = []string{"form", "do", "query", "kept"}

// userinfo is the name and the password in an address.
var userinfo = pattern.Lazy(`//[^/\s@]+@`)

// Of returns the fields of a form that say something, in the order of their names. say translates the name of a field
// and the words for a secret.
func Of(form url.Values, say func(string) string) (all []Field) {
	for _, name := range slices.Sorted(maps.Keys(form)) {
		value := Cut(strings.Join(form[name], ", "))
		if value == "" || slices.Contains(technical, name) || len(all) == maxFields {
			continue
		}
		if hidden().MatchString(name) {
			value = say("(not shown)")
		}
		all = append(all, Field{Cut(say(name)), value})
	}
	return all
}

// Cut returns a text as one short line that can be seen, without the credentials of an address in it.
func Cut(text string) string {
	text = userinfo().ReplaceAllString(page.Shown(strings.Join(strings.Fields(text), " ")), "//")
	if utf8.RuneCountInString(text) > maxValue {
		text = string([]rune(text)[:maxValue]) + "…"
	}
	return text
}
