// Package plainhttp serves the plain requests of HTTP/1.1 of an http.Server with less work than net/http does, and
// leaves all others to it.
//
// # Choices
//
// A request is plain if its head has come as a whole, in 4 KiB, with CRLF after each line and in visible ASCII: one of
// the seven common methods, an absolute path, HTTP/1.1, names of letters, digits and hyphens, one Host, and at most one
// Content-Length in plain digits. Connection may say keep-alive, which changes nothing. Transfer-Encoding, Trailer, TE,
// Expect, Upgrade and Pragma are not plain, whatever they say. Everything else goes to the http.Server, with its bytes
// and on its connection, which stays there: so nothing is refused here, and nothing is read here in another way than
// there. A message that two servers read differently is how requests are smuggled. Fuzz tests hold both readers against
// each other.
//
// An answer has the same bytes as net/http's, its Date apart: the same order of fields, chunks and limits, the same
// rules for what is left of a body. There is no Hijack, because a connection that changes its protocol begins with
// Upgrade. http.MaxBytesReader knows net/http's own answers only: after it, the length of the rest of a body decides
// whether the connection is closed.
//
// Nobody reads while a handler runs: a client that has left is noticed by a read that begins after 10 to 20 ms, as
// internal/connections does it with net/http's. For most requests none begins.
//
// Connections are TCP or local ones; those of TLS are left to net/http. The hooks BaseContext, ConnContext and
// ConnState are called as net/http calls them. A connection that is handed on is new once more to them.
package plainhttp
