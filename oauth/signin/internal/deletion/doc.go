// Package deletion serves the page on which users delete their account.
//
// # Choices
//
// It takes a sign-in of the last ten minutes and the username, typed: nothing brings the account back. What
// goes and what stays is said on the page before, in the words of storage.Store.EraseUser. Who owns
// applications or capabilities hands them over first, and the last administrator cannot go: the service
// would be nobody's.
//
// The trail says that it begins, and with an email that the account was deleted, before it is: the email waits with its address,
// sealed, for a day at most, since nobody knows it afterwards.
//
// What breaks off leaves a user who cannot sign in. It is tried again at once, and after that by the
// operator, as an erasure that has begun: the page says so, and the log says whose it is.
//
// With Ask the page only writes down what the user wants, for a service whose operator has to look first.
package deletion
