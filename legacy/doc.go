// Package legacy is the old doors: /connect.php and /check_token.php, with the MD5 signature.
//
// Nothing of it is built yet. Its place in the import law is: see internal/house.
package legacy
