// Package consoleauth decides who may use the endpoints below /api/console (decision 18):
// who is signed in by the cookie, with a role, from one of our own pages or with a program.
// Where an endpoint is for what belongs to a user, it takes no role. An auditor reads. Bearer
// tokens count for nothing there.
//
// Nothing of a body is read before that is known. A user with a second factor must have used it, to
// read as well: a session in which a trusted browser was spared it does not open the console. Acts that
// matter require a fresh sign-in too: see [Actor.Fresh].
package consoleauth
