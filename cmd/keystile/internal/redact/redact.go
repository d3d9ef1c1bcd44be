// Package redact keeps passwords out of what is shown of settings: every value that is printed, complained of or shown
// on a page goes through it, whatever kind of setting it is, because what is wrong with a value is often that it is an
// address in the wrong place.
package redact

import (
	"slices"
	"strings"
	"unicode"

	"github.com/keystile/keystile/internal/pattern"
)

const placeholder = "[secret]"

var (
	authority = pattern.Lazy(`^(\[[0-9A-Fa-f:.]+\]|[^\s:@/?#\[\]%]+)?(:[0-9]*)?$`)
	begins    = pattern.Lazy(`(?i)://|//|:|%3a`)
	ends      = pattern.Lazy(`(?i)@|%40`)
	parameter = pattern.Lazy(`(?i)((?:^|[?&;,\s])[\w.-]*(?:pass|pwd|secret|token|signature|api_?key)[\w.-]*\s*=\s*)` +
		`('[^']*'|[^&#;,\s'"]+)`)
)

// Text returns a text without what is or may be the password of an address in it: all between the scheme, or a
// colon where there is none, and the last @, unless what stands behind :// is a host by itself. A port that is no
// number may be a password whose @ is missing. Text that might be a password is hidden.
func Text(text string) string {
	shown, _ := cut(text)
	return parameter().ReplaceAllString(shown, "${1}"+placeholder)
}

// cut returns what is shown of a text but for its parameters, and what of it is not.
func cut(text string) (shown string, hidden []string) {
	var out strings.Builder
	rest := text
	for {
		begin := begins().FindStringIndex(rest)
		if begin == nil {
			break
		}
		last := lastEnd(rest[begin[1]:])
		if rest[begin[0]:begin[1]] == "://" {
			name := rest[begin[1]:]
			if end := strings.IndexAny(name, "/?#, \t\r\n\"'<>"); end >= 0 {
				name = name[:end]
			}
			if authority().MatchString(name) {
				out.WriteString(rest[:begin[1]+len(name)])
				rest = rest[begin[1]+len(name):]
				continue
			}
			if host, _, port := strings.Cut(name, ":"); port && last < 0 {
				out.WriteString(rest[:begin[1]+len(host)+1] + placeholder)
				hidden = append(hidden, name[len(host)+1:])
				rest = rest[begin[1]+len(name):]
				continue
			}
		}
		if last < 0 {
			break
		}
		out.WriteString(rest[:begin[1]] + placeholder)
		hidden = append(hidden, rest[begin[1]:begin[1]+last])
		rest = rest[begin[1]+last:]
	}
	out.WriteString(rest)
	return out.String(), hidden
}

// Repeats reports whether a message has a word of what Text hides of a text, the name of a user apart.
func Repeats(message, text string) bool {
	_, hidden := cut(text)
	for _, found := range parameter().FindAllStringSubmatch(text, -1) {
		hidden = append(hidden, found[2])
	}
	apart := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	said := strings.FieldsFunc(strings.ToLower(message), apart)
	within := func(word string) bool { // a short one may be part of any other
		return slices.Contains(said, word) || len(word) > 3 && strings.Contains(strings.ToLower(message), word)
	}
	for _, part := range hidden {
		if _, password, found := strings.Cut(part, ":"); found {
			part = password
		}
		words := strings.FieldsFunc(strings.ToLower(part), apart)
		if len(words) == 0 && strings.Contains(message, part) || slices.ContainsFunc(words, within) {
			return true
		}
	}
	return false
}

// lastEnd returns where the last @ is, in one of its spellings; -1: there is none.
func lastEnd(text string) int {
	all := ends().FindAllStringIndex(text, -1)
	if len(all) == 0 {
		return -1
	}
	return all[len(all)-1][0]
}

// Hides reports whether Text shows less than the text.
func Hides(text string) bool { return Text(text) != text }

var address = pattern.Lazy(`(?i)([a-z][a-z0-9+.-]*://)[^\s"']*(@|%40)`)

// Message returns a message of an error for people, in which an address may be quoted, without its user and password.
func Message(text string) string {
	return parameter().ReplaceAllString(address().ReplaceAllString(text, "${1}"+placeholder+"${2}"), "${1}"+placeholder)
}
