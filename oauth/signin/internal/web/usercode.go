package web

import (
	"net/url"
	"strings"

	"github.com/keystile/keystile/internal/typedcode"
)

// DevicePath is the page where users type the code that a device shows (RFC 8628 3.3).
const DevicePath = "/oauth/device"

// UserCodeLetters are the letters of a code that users type: no vowels, so that no words come up.
const UserCodeLetters = "BCDFGHJKLMNPQRSTVWXZ"

const userCodeLength = 8

// UserCodeOf returns the code that a user has typed, as XXXX-XXXX, or "" if it is none.
func UserCodeOf(typed string) string {
	code := typedcode.Read(typed)
	if len(code) != userCodeLength || strings.Trim(code, UserCodeLetters) != "" {
		return ""
	}
	return code[:4] + "-" + code[4:]
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
