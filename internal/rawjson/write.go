package rawjson

import "unicode/utf8"

// AppendString appends s as a JSON string (RFC 8259 7), as encoding/json would write it
// without its care for HTML: what is not UTF-8 becomes U+FFFD.
func AppendString(to []byte, s string) []byte {
	to = append(to, '"')
	from := 0 // what comes before is written
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			to = append(to, s[from:i]...)
			to = appendEscape(to, c)
			i++
			from = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			to = append(append(to, s[from:i]...), `\ufffd`...)
			from = i + 1
		} else if r == '\u2028' || r == '\u2029' { // ends of lines to a JavaScript that reads it as its own
			to = append(append(to, s[from:i]...), `\u202`...)
			to = append(to, hex[r&15])
			from = i + size
		}
		i += size
	}
	return append(append(to, s[from:]...), '"')
}

// AppendStrings appends a JSON array of strings, each as AppendString writes it.
func AppendStrings(to []byte, all []string) []byte {
	to = append(to, '[')
	for i, s := range all {
		if i > 0 {
			to = append(to, ',')
		}
		to = AppendString(to, s)
	}
	return append(to, ']')
}

const hex = "0123456789abcdef"

// plain are the bytes that stand in a string as they are.
var plain = func() (is [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		is[c] = c != '"' && c != '\\'
	}
	return is
}()

func appendEscape(to []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(to, '\\', c)
	case '\b':
		return append(to, '\\', 'b')
	case '\f':
		return append(to, '\\', 'f')
	case '\n':
		return append(to, '\\', 'n')
	case '\r':
		return append(to, '\\', 'r')
	case '\t':
		return append(to, '\\', 't')
	}
	return append(to, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}
