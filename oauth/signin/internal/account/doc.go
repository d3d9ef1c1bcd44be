// Package account serves the account page, where people see who gets in as them.
//
// # Choices
//
// Without a Revoker the page shows the same and offers what needs none: to sign out
// one browser and to unlink a method. A host that takes only its sessions from here has no
// tokens to end; and a page that said it had ended them would lie. Each form names a record,
// which is looked for among those of whoever sends it.
//
// Signing out everywhere ends every session, this one too, and every grant. It asks for no
// fresh sign-in: whoever sees a stranger's browser must be able to act at once, and it opens
// nothing. What was consented to is remembered.
//
// Removing access ends the consent first and the tokens after, so that nothing which is being
// granted meanwhile escapes. The application keeps the openid: it knows who comes back. A first-party
// one is not asked for, so it connects again at the next sign-in.
//
// A method is unlinked whole, with the other browsers that came in by it, and never the last
// that lets its owner in. A username is not unlinked: somebody else could take it and be
// taken for its owner.
package account
