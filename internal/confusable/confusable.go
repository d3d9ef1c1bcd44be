// Package confusable compares names as people see them: by NFKC, and by the skeletons of
// UTS 39 (Unicode Security Mechanisms), two of which are equal if the names they are of
// can be mistaken for each other.
//
// table.txt is the data of UTS 39; table.LICENSE says whose it is, gen.go how it is made.
package confusable

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

//go:generate go run gen.go confusables.txt

// Version is the version of Unicode that the table is from. Skeletons of two versions are
// not to be compared.
const Version = "15.0.0"

//go:embed table.txt
var tableText string

// table holds, for a code point, what it looks like.
var table = sync.OnceValue(func() map[rune]string {
	all := make(map[rune]string, strings.Count(tableText, "\n"))
	for line := range strings.Lines(tableText) {
		var row []rune
		for word := range strings.FieldsSeq(line) {
			n, _ := strconv.ParseUint(word, 16, 32) // a test reads all of it
			row = append(row, rune(n))
		}
		all[row[0]] = string(row[1:])
	}
	all[palochka] = "l"
	return all
})

// palochka is the Cyrillic letter that fonts draw as a small l, beside five letters that
// look Latin: enough for whole names. The data has a small i for it.
const palochka = '\u04cf'

// NFKC returns a text with one spelling for what Unicode can spell in several ways, and for variants such as full
// width.
func NFKC(text string) string { return norm.NFKC.String(text) }

// Normal returns the form in which a name is kept and shown: NFKC, without the space around it.
func Normal(name string) string { return strings.TrimSpace(norm.NFKC.String(name)) }

// Key returns the form in which a name is looked up: Normal, in lower case.
func Key(name string) string {
	return strings.TrimSpace(norm.NFKC.String(strings.ToLower(norm.NFKC.String(name))))
}

// Skeletons returns what a name looks like: as it is written, and in lower case, since
// names are compared without regard to case and "AIice" is read as "Alice". Two names
// that share one can be mistaken for each other.
func Skeletons(name string) []string {
	name = Normal(name)
	// a skeleton has capitals too: that of a zero is O
	all := []string{lower(skeleton(name)), lower(skeleton(lower(name)))}
	slices.Sort(all)
	return slices.Compact(all)
}

// lower is a text in small letters; of the two small sigmas it has one.
func lower(text string) string {
	return strings.Map(func(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }, text)
}

// skeleton is that of UTS 39, 4, without the diacritics: of two names that differ in an
// accent alone, one is easily taken for the other.
func skeleton(name string) string {
	var out strings.Builder
	for _, r := range plain(name) {
		if like, ok := table()[r]; ok {
			out.WriteString(like)
		} else {
			out.WriteRune(r)
		}
	}
	return plain(out.String())
}

// plain is NFD without what cannot be seen and without diacritics.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if ignorable(r) || diacritic(r) {
			return -1
		}
		return r
	}, norm.NFD.String(text))
}

// ignorable reports whether a code point is drawn as nothing at all.
func ignorable(r rune) bool {
	return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		r == brailleBlank
}

const brailleBlank = '\u2800'

// diacritic reports whether a code point is a mark that any script may use. The voicing
// marks of kana are none: with them it is another letter.
func diacritic(r rune) bool {
	return unicode.Is(unicode.Mn, r) && unicode.Is(unicode.Inherited, r) && r != '\u3099' && r != '\u309A'
}
