// Package passkey lets users sign in with passkeys (WebAuthn): in place of a password, and as a second factor.
//
// # Choices
//
// The relying party is the host name of the service, and its one origin is the BaseURL exactly. Browsers know
// passkeys only where the page is https, or http at localhost, and only for a host that has a name: elsewhere,
// as at http://127.0.0.1, they are not offered.
//
// A challenge is a nonce, its end and a keyed hash over both, the ceremony and the one who may answer it: the
// browser before a sign-in, the session when a passkey is added. So none is stored when a page asks for it, which
// every sign-in page does for the browser's own list of passkeys, and a stranger cannot make the store grow. Only a
// right answer to a challenge is stored, until the challenge ends: of two answers one goes on.
//
// The user handle of a passkey is the sub, which is random and says nothing. A credential is looked up among
// those of the user that the answer names, never by its id alone, so a credential id that a person has
// copied from another user opens nothing of theirs.
//
// As the first factor a passkey has verified its user (a PIN, a finger, a face), so it is two factors and no other is
// asked for. As the second it need not. A wrong answer counts for the address, and for the account if it names a
// credential of theirs: whoever does not know one cannot hold anybody up.
//
// A counter that does not rise may be that of a copied key, or of a device that was restored. It is
// logged, recorded and told to the user, and is no reason to shut them out. No attestation is asked for, and none
// that comes is kept.
//
// Without scripts there are no passkeys: the button is hidden until the script finds that the browser can.
package passkey
