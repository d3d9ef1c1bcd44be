// Package scan signs a browser in after its code was scanned with a phone.
//
// # Choices
//
// A code to scan is made by a GET: the ticket belongs to nobody, ends in two minutes and is
// limited by address, and a page without a button is one step less. A GET also claims the code
// for the user who opens its link, because that decides only who may answer. The sign-in itself
// takes a POST from our own page.
//
// The code is public: who reads it can open the phone's page, see the requesting device, and no
// more. Collecting takes the cookie of the browser that shows it. That cookie is new each time,
// so of two tabs the later one counts. No design of this kind can stop a user who confirms a code
// that an attacker has sent; the page says where the other device is, and what not to confirm. It
// also shows a number that is drawn at the scan and is not in the code, and asks whether the
// other device shows the same one, which gets it by the poll, or without a script by its button.
//
// The session that is collected has the login type of the scanner's, since the protocol
// has none for codes, and the time of their sign-in: a confirmation proves no
// more than the phone's session does, and must not make a fresh sign-in of one that is weeks
// old. So prompt=login and max_age=0 are met by it only if the phone's sign-in is recent; if
// not, the application's request asks once more. The session is not begun if the one that
// confirmed has ended by then. Afterwards it ends with that one, and no later than that one would in
// any case: a stolen cookie confirms a code that its holder shows, and must not live for ever in
// that way. To confirm takes no fresh sign-in, because a phone is signed in for weeks and has
// nothing else to show; what is handed on is bounded instead. A second factor is handed on
// for ten minutes, and is asked for by the other browser later. A scan moves the end of the code by
// a minute and not to a minute from then, so that it never takes time away.
package scan
