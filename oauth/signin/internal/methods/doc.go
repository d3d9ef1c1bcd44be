// Package methods names the sign-in methods.
//
// # Choices
//
// A method of a host's own is self to applications: the protocol has six login types,
// and clients may refuse a seventh (protocol 2.2). Its name stands in our paths, in the log and
// among the sign-in methods. So a session does not show which of the host's own methods began it,
// and unlinking one ends all other sessions that began by any of them or by a password.
package methods
