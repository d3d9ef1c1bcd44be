// Package enrol serves the pages on which users add and remove their second factors: an authenticator app,
// recovery codes, and the trust of their browsers.
//
// # Choices
//
// There are two ways in. A signed-in user comes from the account page; a user who may not sign in without a
// second factor comes from the sign-in itself, which waits until there is one (factor.Pending). Both use the
// same page for the app, and the second is open only to users without a factor.
//
// Every change requires a sign-in within the last ten minutes; users with a second factor must have used it in that
// sign-in. So the finder of an open browser can neither add a factor nor take one away. A browser that is trusted
// does not count as proof here.
//
// The secret of an app is kept nowhere until its first code is right. It is a keyed hash of the session or sign-in
// that it is shown in, of the user, and of what they have already: the page can be loaded any number of times, no
// one else can confirm it, and a reader of the store does not learn it. After another sign-in it is a different
// secret.
//
// Recovery codes are shown in the answer to the form that drew them and kept as hashes. They are drawn with the first
// factor, unless there are some left, and whenever the user asks; the old ones end then. Codes without a factor
// are worth nothing, so removing the last factor removes them.
//
// Adding an app where there is one replaces it, so that a user with a new phone is never without one. Removing
// or replacing a factor ends the trust of browsers.
package enrol
