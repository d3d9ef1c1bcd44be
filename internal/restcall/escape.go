package restcall

import (
	"strings"
	"unicode"
)

// escape writes a text into a URL or a header. URLs take percent-encoding, with %20 for a
// blank: + means a blank in forms only (RFC 3986 2.1).
type escape func(dst []byte, text string) []byte

func escapeQuery(dst []byte, text string) []byte { return percent(dst, text, "") }

// escapePath keeps what a segment may hold and no style uses as a separator (RFC 3986 3.3).
func escapePath(dst []byte, text string) []byte { return percent(dst, text, ":@&=+$") }

// escapeSlashed leaves slashes too, as allowReserved asks for.
func escapeSlashed(dst []byte, text string) []byte { return percent(dst, text, ":@&=+$/") }

// escapeForm is for a member of a list in one field of a form. Its blanks are %20, which
// every reader of forms takes for one.
func escapeForm(dst []byte, text string) []byte { return percent(dst, text, "") }

// escapeFormReserved keeps the reserved characters that mean nothing to a form, as
// allowReserved asks for. Some servers take ; for &.
func escapeFormReserved(dst []byte, text string) []byte { return percent(dst, text, ":/?#[]@!$'()*,=") }

// escapeCookie keeps what the value of a cookie may hold (RFC 6265 4.1.1), so that a value
// that was taken from a cookie goes back as it came.
func escapeCookie(dst []byte, text string) []byte {
	return percent(dst, text, "!#$%&'()*+/:<=>?@[]^`{|}")
}

// escapeNothing is for headers, whose values are checked and not encoded.
func escapeNothing(dst []byte, text string) []byte { return append(dst, text...) }

func percent(dst []byte, text, keep string) []byte {
	const hex = "0123456789ABCDEF"
	for i := range len(text) {
		c := text[i]
		if unreserved(c) || strings.IndexByte(keep, c) >= 0 {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		}
	}
	return dst
}

// unreserved is RFC 3986 2.3.
func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' ||
		c == '~'
}

// escapeLiteral encodes what a template's own text must not hold, and keeps its encodings. Also are characters that
// this part of it may hold beside those of a segment.
func escapeLiteral(text, also string) string {
	var dst []byte
	for i := range len(text) {
		c := text[i]
		encoded := c == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2])
		if encoded || c == '/' {
			dst = append(dst, c)
		} else {
			dst = percent(dst, text[i:i+1], ":@&=+$,;!'()*"+also)
		}
	}
	return string(dst)
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// headerValue reports whether a text may be the value of a header (RFC 9110 5.5): CR and
// LF would begin another header, and NUL ends a value for some servers.
func headerValue(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// plain reports whether a text has no control characters at all: what arguments give to
// headers and queries (decision 60).
func plain(text string) bool { return !strings.ContainsFunc(text, unicode.IsControl) }

// headerName is a token (RFC 9110 5.6.2).
func headerName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r > '~' || !unreserved(byte(r)) && !strings.ContainsRune("!#$%&'*+^`|", r)
	})
}
