// Package deletion serves the page on which users delete their account.
//
// # Choices
//
// It requires a sign-in within the last ten minutes and the username, typed: nothing brings the account
// back. The page before says what goes and what stays, in the words of storage.Store.EraseUser. Owners of
// applications or capabilities must hand them over first, and the last administrator cannot be deleted: no
// one could manage the service any more.
//
// The trail says that it begins, and with an email that the account was deleted, before it is: the email waits
// with its address, sealed, for a day at most, since nobody knows it afterwards.
//
// An erasure that breaks off leaves a user who cannot sign in. It is retried at once, and after that
// by the operator, as an erasure that has begun: the page says so, and the log names the user.
//
// With Ask the page only writes down what the user wants, for a service whose operator has to look first.
package deletion
