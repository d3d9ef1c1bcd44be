// Package account serves the account page, where users see their sessions, applications and
// sign-in methods.
//
// # Choices
//
// Without a Revoker the page shows the same and offers only the actions that need none: to sign
// out one browser and to unlink a method. A host that uses only the sessions has no tokens to end,
// and the page must not claim to have ended them. Each form names a record, which is looked up
// among those of its sender.
//
// Signing out everywhere ends every session, this one too, and every grant. It asks for no
// fresh sign-in: a user who sees an attacker's session must be able to act at once, and it grants
// nothing. The consents are kept.
//
// Signing out all other browsers ends their sessions and no grant: it is for users who have left one open
// somewhere.
//
// Agents and other applications that nobody has registered are a list of their own: what is known of them
// they say themselves, and users should not take them for those that the operator vouches for.
//
// Removing access ends the consent first and the tokens after, so that nothing which is being
// granted meanwhile escapes. The application keeps the openid: it knows who comes back. A first-party
// one is not asked for, so it connects again at the next sign-in.
//
// A method is unlinked whole, with the other sessions that it began, and never the last one that
// its owner can sign in with. A username is not unlinked: another person could take it and pass for
// its owner.
package account
