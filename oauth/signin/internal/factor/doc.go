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
// Wrong codes count for the address (the lock) and for the account, in known browsers too: who gets here
// knows the first factor, so this delay shuts no stranger's victim out. After five wrong codes the
// user is told by email, because somebody knows their password.
//
// A browser may be trusted for thirty days: its mark is a keyed hash of the user, the epoch of
// their factors and the end. It spares the second step where a person signs in from the start, and nowhere
// else: not when an application asks for it (acr_values, prompt, max_age), not for the console, and not for
// who is signed in already and has to prove it once more. The sign-in does not claim a second factor
// then. A change of the factors, a new password and signing out everywhere end it.
package factor
