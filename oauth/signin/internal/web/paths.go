package web

import "strings"

// The paths that pages of more than one package lead to.
const (
	AuthorizePath = "/oauth/authorize" // where a sign-in leads back to, if not to the page of a scanned code or to the sign-in page itself
	FormPath      = "/oauth/signin"    // where the sign-in page is, and where its form goes
	QRPath        = FormPath + "/qr"
	// ScanPath and a scan id lead from a code to its page: the phone's side of a sign-in that was
	// begun in another browser.
	ScanPath    = FormPath + "/scan/"
	WithPath    = FormPath + "/with/" // and the name of a provider
	AccountPath = "/oauth/account"
	ConfirmPath = AccountPath + "/confirm"
)

// IsScanID reports whether this could be a scan id: rand.Text, 128 bits and a little more.
func IsScanID(id string) bool {
	return len(id) == 26 && strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") == ""
}

// isScan reports whether what a sign-in page carries is the way to such a page and not an
// authorize request. The form is exact: a sign-in may lead there.
func isScan(query string) bool {
	id, ok := strings.CutPrefix(query, ScanPath)
	return ok && IsScanID(id)
}
