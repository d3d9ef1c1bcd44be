// Package consent asks users what an application may learn and do.
//
// # Choices
//
// The page shows the application, its host, the permissions as text, and the user. The form carries
// the user and the scope, since another tab may sign somebody else in and the application may
// request more: an answer counts for exactly that user and scope, and a scope without a text is
// never stored. Consent to the management of applications takes a recent sign-in when it is given,
// not only when it is used. A consent redirects back to authorize, which reads the store again; a
// denial redirects there too, marked as one. The mark needs no proof: it can only turn a grant into
// a denial. "Use another account" signs this one out, because a browser has one session here.
package consent
