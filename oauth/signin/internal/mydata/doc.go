// Package mydata serves the file of all that the service holds about a user, to the user.
//
// # The format
//
// The file is JSON, with the field format "keystile.account.1". A later version of it adds fields and takes
// none away; one that does not gets another number. Times are RFC 3339 in UTC, fields without a value may be
// missing, and these lists are there, empty or not:
//
//	profile         the account itself: sub, id, username, names, picture, gender, location, email, role, dates
//	ways_in         how they sign in: method, subject, since when
//	second_factors  an authenticator, passkeys by name, how many recovery codes are left
//	sessions        signed-in browsers: address, browser, method (amr as in RFC 8176), from when to when
//	openids         by what each application knows them
//	consents        what they have allowed each application
//	api_keys        names, scopes, dates
//	owns            the applications and capabilities that are theirs
//	audit           records about them, the newest first: 10,000 at most; complete is false if there are more,
//	                or if they could not all be read
//
// # Choices
//
// No secret is in the file, and no hash of one: a finder of the file must not be able to sign in with it.
// The subjects at other providers are whole: they are the user's own. Acts of administrators are in it
// without their names and addresses.
//
// It takes a sign-in of the last ten minutes, is on the audit trail before a byte of it is sent, and is told
// to the user by email. All but the audit records is read before the first byte, so a store that is away is
// a page; the records are written as they are read.
package mydata
