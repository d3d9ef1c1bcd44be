package confusable

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxName bounds the length of a name in bytes, as typed and in its normal form.
const MaxName = 100

// Why a name cannot be a new one.
var (
	ErrText  = errors.New("give 1 to 100 bytes of visible text")
	ErrMixed = errors.New("give letters of one writing system, or Chinese, Japanese or Korean with Latin ones")
)

// Check says what is wrong with a name that somebody wants to have: ErrText if not all of
// it is seen, ErrMixed if it is not "highly restrictive" as UTS 39, 5.2 has it. A name
// that was given before this was checked may well fail.
func Check(name string) error {
	normal := Normal(name)
	hidden := func(r rune) bool { return !unicode.IsPrint(r) || ignorable(r) }
	switch {
	case normal == "" || len(name) > MaxName || len(normal) > MaxName || !utf8.ValidString(name):
		return ErrText
	case strings.ContainsFunc(normal, hidden),
		strings.ContainsFunc(strings.ReplaceAll(strings.TrimSpace(name), "\u3000", " "), hidden):
		return ErrText // also what NFKC takes away, such as a Hangul filler; the wide space becomes a space
	case !oneSystem(normal):
		return ErrMixed
	}
	return nil
}

// mixes are the scripts that are written together.
var mixes = [][]string{
	{"Latin", "Han", "Hiragana", "Katakana"},
	{"Latin", "Han", "Bopomofo"},
	{"Latin", "Han", "Hangul"},
}

func oneSystem(name string) bool {
	var used []string
	for _, r := range name {
		if s := script(r); s != "" && !slices.Contains(used, s) {
			used = append(used, s)
		}
	}
	return len(used) <= 1 || slices.ContainsFunc(mixes, func(mix []string) bool {
		return !slices.ContainsFunc(used, func(s string) bool { return !slices.Contains(mix, s) })
	})
}

// script names the script of a code point, "" if every script has it.
func script(r rune) string {
	if r <= unicode.MaxASCII && !unicode.IsLetter(r) || unicode.In(r, unicode.Common, unicode.Inherited) {
		return ""
	}
	if unicode.Is(unicode.Latin, r) {
		return "Latin"
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return name
		}
	}
	return "Unknown"
}
