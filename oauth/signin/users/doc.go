// Package users finds the users who sign in, and keeps those of the Store.
//
// [StoreUsers] are those of the Store. A host with a user table of its own implements [Users], two
// methods, and gives it to oauth.Config and, in a [Host], to signin.Config; examples/signin does. The Store keeps
// what is not about who a person is: applications, sessions, tickets, consents, openids and tokens,
// all by the user's sub. So the sub never changes and is never given to another person. Sign-in never
// writes to the table but by the methods that it has. Each field of Host switches something on:
//
//	field      with               opens                                     without it
//	Users                         passwords, codes to scan, consent;        required; zero: the
//	                              sessions and applications on the account  users of the Store
//	                              page
//	Connected  Config.Connectors  other providers and methods of the        New refuses Connectors
//	                              host's own, to sign in with and to link
//	Logins     the account page   the sign-in methods that it shows, and    the Store is asked, and knows
//	                              to unlink them                            none of the host's
//	Emails     Config.Mailer      codes by email, to sign in with and to    not offered;
//	                              confirm an address                        notices are sent
//	                                                                        all the same
//	Passwords  Config.Revoker     to change the password; with Emails       not offered
//	                              also to reset a forgotten one
//	Marks      Config.Audit       a mark of each change of a password       the trail has the change alone
//	Profiles   the account page   to change the profile                     not offered
//	Attributes Profiles and       to change these attributes with the       New refuses
//	           Config.Profile-    profile                                   ProfileAttributes
//	           Attributes
//	Erasable   Config.Revoker     to delete the account                     not offered, but for the
//	                                                                        users of the Store
//	SignUps    Config.SignUp      to become a user by a form                not offered
//	Invited    Config.SignUp,     invitations by codes by email and by      the users decide by themselves
//	           ConnectorSignUp    other providers; whom these make a user   whom Connected makes
//	                              of is sign-in's to decide
//	Closed                        tools without an access list may be       they are their owner's:
//	                              everyone's                                strangers may be users
//	Named                         known browsers are not held up while a    every browser waits while a
//	                              name is guessed at from many addresses    name is guessed at
//	Creator    keystile.Config    administrators make users in the console  the console makes none; of a host's own
//	                                                                        it has no pages then
//
// A [storage.User] that is Disabled is refused, however they come. Its LoginType is the method by
// which they last came, which a host writes down in Connected; empty is self. userinfo reports it by the login
// type that protocol 1 has for it, or itself: see LoginTypes of an oauth.Config.
package users
