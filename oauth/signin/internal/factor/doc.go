// Package factor asks users who have a second factor for it: an authenticator app, a passkey, or a recovery
// code in place of a lost one.
//
// # Choices
//
// Every way to sign in leads through flow.Steps.SignIn and so through here: a password, a code by email,
// another provider, a scanned code, the end of a new password. Only what has proved two factors already
// passes. Between the two steps nobody is signed in: there is a ticket that belongs to the browser, ends
// within ten minutes and after five wrong codes, and then the first step begins again.
//
// Wrong codes count for the address (the lock) and delay the account, in known browsers too: whoever gets here
// knows the first factor, so this shuts no stranger's victim out. And they are counted in the record of the factors
// (decision 97), in the write that uses a right one up, so that no burst and no number of nodes judges more than is
// counted.
//
// The code that confirms a new app is not counted. It belongs to a secret that the page itself shows, so there is
// nothing to guess, and a mistyped code is no attack.
//
// A browser may be trusted for thirty days: its mark is a keyed hash of the user, the epoch of their factors and
// the end. It spares the second step where a person signs in to an application from the start, and nowhere else:
// not when the application asks for it (acr_values, prompt, max_age) or wants to manage what belongs to the user,
// not for the console, the account or nothing in particular, and not for users who are signed in already and have
// to prove it again. The session does not claim a second factor then, so it is not fresh (package stepup): every
// form of the account and every request of the console asks for the factor, and goes on with it (Confirm, Prove).
// A change of the factors, a new password and signing out everywhere end the trust.
package factor
