package yamljson

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// screen looks at the characters of a text before it is parsed: at their encoding, at those
// that cannot stand in YAML, and at how many values they can make at most.
func screen(text []byte, nodes int) error {
	if head := string(text[:min(len(text), 4)]); strings.HasPrefix(head, "\xff\xfe") ||
		strings.HasPrefix(head, "\xfe\xff") || strings.IndexByte(head, 0) >= 0 {
		return &Error{1, 1, "this is UTF-16 or UTF-32: save it as UTF-8", nil}
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	fresh := true // nothing but blanks in this line so far
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			r, size := utf8.DecodeRune(text[i:])
			if why := excluded(r, size); why != "" {
				return at(text, i, why, nil)
			}
			i += size - 1
		}
		i++
		if nodes -= begins(c, text[i:], fresh); nodes < 0 {
			return at(text, i-1, "up to here it may have more keys and values than are read", ErrSize)
		}
		fresh = c == '\n' || c == '\r' || fresh && (c == ' ' || c == '\t')
	}
	return nil
}

// excluded says why a character is refused, "" if it is not (YAML 1.2.2, 5.1).
func excluded(r rune, size int) string {
	switch {
	case r == utf8.RuneError && size == 1:
		return "this is not UTF-8: save the document as UTF-8"
	case r == '\u2028' || r == '\u2029' || r < 0xa0 || r == '\ufeff' || r == '\ufffe' || r == '\uffff':
		return fmt.Sprintf(`the character U+%04X cannot stand here: write \u%04[1]x in double quotes, or leave it out`, r)
	}
	return ""
}

// begins returns how many nodes a byte can begin at most, itself and those without a text that
// it implies: [ is a list, its first element a key, and that has a value.
func begins(c byte, rest []byte, fresh bool) int {
	switch c {
	case '[', '{', '?':
		return 3
	case ',', ':':
		return 2
	case '-':
		if len(rest) == 0 || strings.IndexByte(" \t\r\n", rest[0]) >= 0 {
			return 2
		}
	case ' ', '\t', '\n', '\r', '#':
		return 0
	}
	if fresh { // the first scalar of a line
		return 1
	}
	return 0
}

// at is an error at a byte of a text.
func at(text []byte, i int, why string, limit error) *Error {
	head := bytes.ReplaceAll(text[:i], []byte("\r\n"), []byte("\n"))
	line := 1 + bytes.Count(head, []byte("\n")) + bytes.Count(head, []byte("\r"))
	start := 1 + bytes.LastIndexAny(head, "\r\n")
	return &Error{line, 1 + utf8.RuneCount(head[start:]), why, limit}
}

// readable is a text whose %YAML 1.2 is 1.1, the only version that the parser takes: the
// characters of the two differ little, and what scalars mean is decided here.
func readable(text []byte) []byte {
	head := bytes.TrimPrefix(text, []byte("\ufeff"))
	for len(head) > 0 && strings.IndexByte("#% \t\r\n", head[0]) >= 0 { // before the document begins
		if rest, is := bytes.CutPrefix(head, []byte("%YAML 1.")); is && len(rest) > 0 && rest[0] == '2' {
			out := bytes.Clone(text)
			out[len(text)-len(rest)] = '1'
			return out
		}
		end := bytes.IndexAny(head, "\r\n")
		if end < 0 {
			break
		}
		head = head[end+1:]
	}
	return text
}
