package clientdoc

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const maxName = 200 // bytes

// CleanName returns a name as it can be shown: without what is not seen or turns the direction of what
// follows, in one line, and not too long. It is "" if nothing is left.
func CleanName(claimed string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(claimed, "") {
		switch {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) && r != '\u2800':
			b.WriteRune(r)
		}
	}
	name := strings.Join(strings.Fields(b.String()), " ")
	if len(name) <= maxName {
		return name
	}
	end := maxName
	for !utf8.RuneStart(name[end]) {
		end--
	}
	return strings.TrimSpace(name[:end])
}
