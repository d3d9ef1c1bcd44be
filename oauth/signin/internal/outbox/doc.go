// Package outbox keeps the emails that were promised in the store until they are handed over to
// the mail server.
//
// A request stores an email and does not wait until it is sent. Whether one is sent at all is
// decided in the background too, so neither shows in how long a response takes. An email survives
// the process: another one over the same store sends it, at once if it is started later, or within
// [Every] after the lease of a process that has died.
//
// # Choices
//
// At least once: a process that dies after the server has taken an email, and before that is
// stored, has it sent again. A server that takes an email and answers too late does too.
//
// An email is sealed in the store, all of it: there are a code and an address in it. It is removed
// once it is handed over, given up or of no use any more. Someone who reads the store and has the
// master key too could read a code meanwhile, but not use it: it works in one browser.
//
// A failed email is sent again after 5 s, 30 s, 2 min, 5 min, 30 min, 2 h and 6 h, each up to a
// tenth longer, as long as the email is of use: a code until it ends, a notice for a day. An email
// that the server refuses for good, such as one to an unknown mailbox, is given up at once.
//
// Of each kind of email up to [Capacity] wait; what finds no place is refused. The bound is soft by
// what is stored in the same moment, and is that of the store, not of each process.
package outbox
