package toolschema

import (
	"strings"
	"unicode/utf8"
)

// maxRunes bounds every description and title.
const maxRunes = 1024

// Text returns an untrusted text as users and models may see it: one line of what is
// visible, at most 1,024 runes. A line break, a tab and a blank of another kind that nobody
// tells from one become a blank; what is not seen at all goes. Text(Text(s)) is Text(s).
func Text(s string) string {
	if len(s) > 8*maxRunes { // nobody reads further, whatever is removed
		s = s[:8*maxRunes]
	}
	s = strings.TrimSpace(clean(s))
	if utf8.RuneCountInString(s) > maxRunes {
		end := 0
		for range maxRunes {
			_, size := utf8.DecodeRuneInString(s[end:])
			end += size
		}
		s = strings.TrimSpace(clean(s[:end])) // the cut may have parted what belongs together
	}
	return s
}

// Lines returns a text of any length with its line breaks, each line of what is visible.
func Lines(s string) string {
	if !strings.Contains(s, "\n") {
		return clean(s)
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = clean(line)
	}
	return strings.Join(lines, "\n")
}

// Visible reports whether a text is one line in which everything is seen.
func Visible(s string) bool { return clean(s) == s }

// clean strips what is not visible. It allocates only if something goes.
func clean(s string) string {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return strip(s)
		}
	}
	return s
}

// strip is clean for a text that is not plain ASCII.
func strip(s string) string {
	var out strings.Builder
	var last kept
	done := 0 // of s, what is in out
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		in := s[i:]
		i += size
		switch {
		case r == utf8.RuneError && size == 1: // not UTF-8
		case blank(r):
			out.WriteString(s[done : i-size])
			out.WriteByte(' ')
			done, last = i, kept{}
			continue
		case visible(r):
			last.add(r)
			continue
		case last.takes(r, in[size:]):
			last.join(r)
			continue
		default:
			if n := last.flag(in); n > 0 {
				i += n - size
				last = kept{}
				continue
			}
		}
		out.WriteString(s[done : i-size])
		done = i
	}
	if done == 0 {
		return s
	}
	out.WriteString(s[done:])
	return out.String()
}
