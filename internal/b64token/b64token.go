// Package b64token tells the texts that may be a bearer token (RFC 6750 2.1), of which each request has one.
package b64token

import "strings"

// Valid reports whether a text is a b64token: 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"=".
func Valid(text string) bool {
	text = strings.TrimRight(text, "=")
	if text == "" {
		return false
	}
	for i := usual(text); i < len(text); i++ {
		if odd[text[i]] != 0 {
			return false
		}
	}
	return true
}

// usual returns how many characters a text begins with, of a multiple of eight, that are letters, digits,
// - . / or _, as those of a JWT are: each request has hundreds of them. It looks at eight at once: a byte
// below 0x80 has its highest bit set after 0x80-c was added if it is c or more, and carries nothing into
// the next one.
func usual(text string) (n int) {
	const each, high = 0x0101_0101_0101_0101, 0x8080_8080_8080_8080
	for ; n <= len(text)-8; n += 8 {
		c := text[n : n+8]
		w := uint64(c[0]) | uint64(c[1])<<8 | uint64(c[2])<<16 | uint64(c[3])<<24 |
			uint64(c[4])<<32 | uint64(c[5])<<40 | uint64(c[6])<<48 | uint64(c[7])<<56
		small := w | 0x20*each
		letter := (small + (0x80-'a')*each) &^ (small + (0x7F-'z')*each)
		digit := (w + (0x80-'-')*each) &^ (w + (0x7F-'9')*each) // and . and /, which lie between
		line := (w + (0x80-'_')*each) &^ (w + (0x7F-'_')*each)
		if (letter|digit|line)&^w&high != high {
			break
		}
	}
	return n
}

// odd holds a 1 for each character that is not allowed in a b64token before its padding.
var odd = func() (not [256]byte) {
	for c := range not {
		if !URLSafe(byte(c)) && strings.IndexByte(".~+/", byte(c)) < 0 {
			not[c] = 1
		}
	}
	return not
}()

// URLSafe reports whether a character is of the alphabet of base64url (RFC 4648 5).
func URLSafe(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}
