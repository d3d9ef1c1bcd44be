// Package methods names the ways in which people sign in.
//
// # Choices
//
// A method of a host's own is self to applications: the protocol has six login types,
// and clients may refuse a seventh (protocol 2.2). Its name stands in our paths, in the log and
// among the sign-in methods. So a session does not tell by which of the host's own somebody came,
// and who unlinks one signs out every other browser that came in by any of them or by a password.
package methods
