package web

import "strings"

// The paths that pages of more than one package lead to.
const (
	// a sign-in redirects back there, or to the page of a scanned code or the sign-in page
	AuthorizePath = "/oauth/authorize"
	FormPath      = "/oauth/signin" // the sign-in page and the target of its form
	QRPath        = FormPath + "/qr"

	PasskeyPath       = FormPath + "/passkey"        // takes a passkey in place of a password
	PasskeySecondPath = FormPath + "/factor/passkey" // takes one as the second factor
	PasskeyScript     = FormPath + "/passkey.js"

	// ScanPath and a scan id are the address in a code: the phone's side of a sign-in in another
	// browser.
	ScanPath    = FormPath + "/scan/"
	WithPath    = FormPath + "/with/" // and the name of a provider
	AccountPath = "/oauth/account"
	ConfirmPath = AccountPath + "/confirm"
	FactorsPath = AccountPath + "/factors" // a user's second factors
)

// IsScanID reports whether this could be a scan id: rand.Text, 128 bits and a little more.
func IsScanID(id string) bool {
	return len(id) == 26 && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// isScan reports whether the query that a sign-in page carries is the path of a scan, and not an
// authorize request. The match is exact, because a sign-in redirects there.
func isScan(query string) bool {
	id, ok := strings.CutPrefix(query, ScanPath)
	return ok && IsScanID(id)
}
