package web

import (
	"net/url"
	"strings"
	"unicode"
)

// DevicePath is the page where users type the code that a device shows (RFC 8628 3.3).
const DevicePath = "/oauth/device"

// UserCodeLetters are the letters of a code that users type: no vowels, so that no words come up.
const UserCodeLetters = "BCDFGHJKLMNPQRSTVWXZ"

const (
	userCodeLength = 8
	maxTyped       = 64 // bytes of what users type for it
)

// UserCodeOf returns the code that a user has typed, as XXXX-XXXX, or "" if it is none. Case, blanks and
// all kinds of hyphen do not count, and letters may be full-width, as Chinese keyboards write them.
func UserCodeOf(typed string) string {
	if len(typed) > maxTyped {
		return ""
	}
	var code []byte
	for _, c := range typed {
		if 'Ａ' <= c && c <= 'Ｚ' || 'ａ' <= c && c <= 'ｚ' {
			c -= 'Ａ' - 'A'
		}
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		switch {
		case c < 0x80 && strings.ContainsRune(UserCodeLetters, c):
			code = append(code, byte(c))
		case unicode.IsSpace(c), unicode.Is(unicode.Pd, c), c == '\u2212', c == '\u200b':
		default:
			return ""
		}
	}
	if len(code) != userCodeLength {
		return ""
	}
	return string(code[:4]) + "-" + string(code[4:])
}

// DeviceLink returns the address of the page with a code filled in, and without one the page alone.
func DeviceLink(userCode string) string {
	if userCode == "" {
		return DevicePath
	}
	return DevicePath + "?" + url.Values{"user_code": {userCode}}.Encode()
}

// isDevice reports whether the query that a sign-in page carries is the page for the code of a device,
// and not an authorize request. The match is exact, because a sign-in redirects there.
func isDevice(query string) bool {
	code, ok := strings.CutPrefix(query, DevicePath+"?user_code=")
	return query == DevicePath || ok && UserCodeOf(code) == code && code != ""
}
