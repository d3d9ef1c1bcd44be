package toolschema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRunes bounds every description and title.
const maxRunes = 1024

// Text returns a text of a stranger as people and models may see it: one line, without
// control characters, without the characters that reorder or hide what is read, at most
// 1,024 runes.
func Text(s string) string {
	if len(s) > 8*maxRunes { // nobody reads further, whatever is removed
		s = s[:8*maxRunes]
	}
	s = strings.ToValidUTF8(s, "")
	if strings.IndexFunc(s, unfit) >= 0 {
		s = strings.Map(func(r rune) rune {
			switch {
			case r == '\n' || r == '\t':
				return ' '
			case unfit(r):
				return -1
			}
			return r
		}, s)
	}
	s = strings.TrimSpace(s)
	if utf8.RuneCountInString(s) > maxRunes {
		s = strings.TrimSpace(string([]rune(s)[:maxRunes]))
	}
	return s
}

// unfit reports control characters, overrides of the writing direction, and the tag
// characters, which show nothing and are read by models.
func unfit(r rune) bool {
	return unicode.IsControl(r) || '\u202a' <= r && r <= '\u202e' || '\u2066' <= r && r <= '\u2069' || 0xe0000 <= r && r <= 0xe007f
}
