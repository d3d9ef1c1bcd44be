// Package typedcode reads codes that people type or paste: of emails, of authenticator apps, of recovery, of devices
// and of invitations. All of them are read here, so that what works for one works for each.
package typedcode

import (
	"strings"
	"unicode"
)

// maxTyped bounds what is looked at, in bytes: more is no code.
const maxTyped = 128

// Read returns the code in what somebody has typed: capital letters of ASCII and digits, and any other character as it
// is. Blanks, dashes, and characters that nobody sees do not count; neither do case, full width as East Asian keyboards
// write it, and the alphabet of a digit. A text of more than 128 bytes holds none.
func Read(text string) string {
	if len(text) > maxTyped {
		return ""
	}
	return strings.Map(plain, text)
}

// Digits returns the code of n digits in what somebody has typed, or "" if it cannot be one.
func Digits(text string, n int) string {
	code := Read(text)
	if len(code) != n || strings.Trim(code, "0123456789") != "" {
		return ""
	}
	return code
}

func plain(r rune) rune {
	switch {
	case '！' <= r && r <= '～': // full width
		r -= '！' - '!'
	case r == 'ı' || r == 'İ': // Turkish keyboards have no other capital of i
		return 'I'
	}
	switch {
	case 'a' <= r && r <= 'z':
		return r - 'a' + 'A'
	case r < 0x80 && r > ' ' && r != '-' && r != 0x7f:
		return r
	case unseen(r):
		return -1
	}
	return digit(r)
}

// unseen reports whether a character is a blank, a dash of any kind, or one that shows nothing.
func unseen(r rune) bool {
	const dashesByLook = "\u2212\u30fc\u2043\u02d7" // minus, the long mark of kana, a hyphen bullet, a modifier
	return unicode.IsSpace(r) || unicode.In(r, unicode.Pd, unicode.Zs, unicode.Cf, unicode.Variation_Selector) ||
		strings.ContainsRune(dashesByLook, r) || r == '\u3164' || r == '\u2800' // blanks that Unicode calls something else
}

// digit returns the digit of ASCII that a digit of another alphabet stands for, and any other character as it is.
func digit(r rune) rune {
	for _, of := range unicode.Nd.R16 { // each range holds whole sets of ten
		if rune(of.Lo) <= r && r <= rune(of.Hi) {
			return '0' + (r-rune(of.Lo))%10
		}
	}
	for _, of := range unicode.Nd.R32 {
		if rune(of.Lo) <= r && r <= rune(of.Hi) {
			return '0' + (r-rune(of.Lo))%10
		}
	}
	return r
}
