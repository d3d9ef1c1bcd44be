// Package consent asks people what an application may learn.
//
// # Choices
//
// The page shows who asks, from which host, for what in words, and of whom. It carries whom it asked
// and for which scope, since another tab may sign somebody else in and the application may ask for
// more: an answer counts for exactly that user and scope, and what the page has no words for is
// never stored. A yes to the management of applications takes a recent sign-in when it is said, not
// only when it is used. A yes leads back to authorize, which asks the store again; a no leads there
// too, marked as one. The mark proves nothing and needs to prove nothing: it can only have an
// application told no, where the provider would have told it yes. "Use another account" signs this
// one out, because a browser has one session here.
package consent
