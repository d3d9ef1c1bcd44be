// Package resp speaks the protocol of Redis and Valkey, RESP 2 and 3, over a connection that many callers share.
//
// The other end may be anything: a proxy with errors of its own, another service on that port, an attacker on the
// way. So every length is bounded before anything is allocated for it, memory grows with the bytes that have
// arrived and not with those that are announced, and bytes that are no answer end the connection with an error, and
// nothing else.
//
// Commands that come while others are written go out in one write, and each write ends with a PING that carries its
// number. Answers are believed when that number has come back in its place. So one answer too many, or one too few, is
// noticed before it moves the others to callers that they are not for.
//
// A caller that finds nobody reading reads its answers itself, and no other goroutine has to wake it (see read.go).
//
// The types that RESP 3 adds to RESP 2 are read as those of RESP 2: a map is a list, a double is text, a boolean
// a number. Pushed messages and attributes are errors, because none are asked for.
package resp
