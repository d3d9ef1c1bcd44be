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
//
// It is a client of our own, and neither rueidis v1.0.79 nor go-redis v9.23.0. Both are well kept, and both
// trust the server: one unexpected line ("-ERR x", "$-1", "*-5") ended a process with rueidis, in a goroutine
// that no recover reaches; both allocate any announced length, so that "*1000000000" as a greeting, or
// "$99999999999999" as an answer, end the process for want of memory. Where templates make the linker keep
// every method, as in cmd/keystile, rueidis was 10.1 MB of the program and go-redis 8.2 MB; this is 0.1 MB.
// Beside a bare connection for each caller, p50 of a PING is 1.1 at one caller and 1.2 at 64 (BenchmarkPing);
// of go-redis it is 1.1 and 1.9.
package resp
