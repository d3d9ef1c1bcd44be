// Package users finds the users who sign in, and keeps those of the Store.
//
// [StoreUsers] are those of the Store. A host with a user table of its own implements [Users], two
// methods, and gives it to signin.Config and to oauth.Config; examples/signin does. The Store keeps
// what is not about who somebody is: applications, sessions, tickets, consents, openids and tokens,
// all by the user's sub. So the sub never changes and is never given to somebody else. Sign-in never
// writes to the table but by the methods that it implements:
//
//	interface       with               opens                                     without it
//	Users                              passwords, codes to scan, consent;        required; nil: the
//	                                   sessions and applications on the account  users of the Store
//	                                   page
//	ConnectedUsers  Config.Connectors  other providers and methods of the        New refuses Connectors
//	                                   host's own, to sign in with and to link
//	LinkedUsers     the account page   the sign-in methods that it shows, and    the Store is asked, and knows
//	                                   to unlink them                            none of the host's
//	EmailUsers      Config.Mailer      codes by email, to sign in with and to    not offered;
//	                                   confirm an address                        notices are sent
//	                                                                             all the same
//	PasswordUsers   Config.Revoker     to change the password; with EmailUsers   not offered
//	                                   also to reset a forgotten one
//	ProfileUsers    the account page   to change the profile                     not offered
//	ErasableUsers   Config.Revoker     to delete the account                     not offered, but for the
//	                                                                             users of the Store
//	SignUpUsers     Config.SignUp      to become a user by a form                not offered
//	InvitedUsers    Config.SignUp,     invitations by codes by email and by      the users decide by themselves
//	                ConnectorSignUp    other providers; whom these make a user   whom Connected makes
//	                                   of is sign-in's to decide
//	ClosedUsers                        tools without an access list may be       they are their owner's:
//	                                   everyone's                                strangers may be users
//	NamedUsers                         known browsers are not held up while a    every browser waits while a
//	                                   name is guessed at from many addresses    name is guessed at
//
// A [storage.User] that is Disabled is refused, however they come. Its LoginType is the method by
// which they last came, which a host writes down in Connected; empty is self. userinfo reports it by the login
// type that protocol 1 has for it, or itself: see LoginTypes of an oauth.Config.
//
// # Choices
//
// Usernames are compared after NFKC normalisation and lowercasing, so one that is typed in full
// width signs in. A new one is refused if it looks like an existing one, that is, if they share a
// skeleton (UTS 39), as written or in lower case; accents and other diacritics do not count, the
// voicing marks of kana do. Typing a look-alike to sign in does not find its owner. New names are
// of one script, or of Chinese, Japanese or Korean with Latin, and hold no invisible characters;
// they are kept and shown in NFKC. Generated names are checked against the same list.
//
// The skeleton of each username is a document, written in one step with the user, so of many
// sign-ups at once that look alike one gets through. Users who were made before have none: when the
// next user is made, every user is read once and their documents are written; only that sign-up
// waits for it. Users who look alike already stay as they are, and sign in by the very name they
// typed then. Users whom an older process makes beside a newer one are not checked against the
// list.
//
// An email address is found by its lower case and otherwise as it is typed: no dots or
// plus signs are folded, because only the provider knows what they mean. It is ASCII. One that is
// confirmed may be typed with the password, in place of the username; a username that is the same text
// comes first.
//
// A user who signs up by email gets a generated username, because applications that may not learn
// the address are told the username.
//
// All identities of a provider's profile lead to one user, also one that is added later; if they
// are of two users, the strongest decides, and none is moved. A provider fills in the parts of the
// user's profile that are missing, and overwrites none.
package users
