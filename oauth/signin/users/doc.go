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
// The rules for usernames stand at [StoreUsers], those for email addresses at [NormalizeEmail].
package users
