// Package resp speaks the protocol of Redis and Valkey, RESP 2 and 3, over a connection that many callers share.
//
// Whoever answers may be anybody: a proxy with errors of its own, another service on that port, somebody on the way. So
// every length is bounded before anything is made for it, memory grows with what has arrived and not with what is
// announced, and whatever is no answer ends the connection with an error, and nothing else.
//
// Commands that come while others are written go out in one write, and each write ends with a PING that carries its
// number. Answers are believed when that number has come back in its place. So one answer too many, or one too few, is
// noticed before it moves the others to callers that they are not for.
//
// A caller that finds nobody reading reads its answers itself, and no other goroutine has to wake it (see read.go).
//
// What RESP 3 has beyond RESP 2 is read as what RESP 2 would say: a map is a list, a double is text, a boolean a
// number. Pushed messages and attributes are errors, since nobody asks for any.
package resp
