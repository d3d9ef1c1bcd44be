// Package legible makes valid JSON of the answers that providers send as JSON.
package legible

import (
	"bytes"
	"unicode/utf8"
)

// Text returns a text of a provider in a form that can be read as JSON, with as many bytes as before. Names that users
// choose are sent on as they were typed, in whatever old client that was: control characters become blanks, and
// characters of GBK question marks, since the second byte of one may be a backslash. Only what is for show can hold
// either: an id with a blank or a question mark in it is still compared as it stands, and one with a blank is none.
func Text(body []byte) []byte {
	if utf8.Valid(body) && bytes.IndexFunc(body, func(r rune) bool { return r < ' ' }) < 0 {
		return body
	}
	out := bytes.Clone(body)
	for i := 0; i < len(out); {
		r, size := utf8.DecodeRune(out[i:])
		switch {
		case r < ' ':
			out[i] = ' '
		case r == utf8.RuneError && size == 1:
			out[i] = '?'
			if i+1 < len(out) && isGBKTrail(out[i+1]) {
				out[i+1], size = '?', 2
			}
		}
		i += size
	}
	return out
}

// isGBKTrail reports whether a byte can be the second one of a character of GBK. A quotation mark cannot.
func isGBKTrail(b byte) bool { return b >= 0x40 && b != 0x7f && b != 0xff }
