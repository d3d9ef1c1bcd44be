// Package upstream is a client of HTTP/1.1 for services that are asked without TLS. It does what net/http's Transport
// does, in less than half the time: the goroutine of the caller writes the request at once and reads the answer, so
// that no goroutine has a connection, and none is woken up on the way.
//
// A [Transport] stands before one of net/http and has its bounds. It takes requests to http URLs whose body is of a
// known length of at most 16 KiB. It hands on, before anything is read or written, what it does not take: https, longer
// bodies and those of unknown length, Upgrade, Expect and Connection, CONNECT, trailers, proxies, a Request.Cancel,
// whatever a host, target, name or value has that is not plain, and so all that net/http refuses. Those requests have
// connections of their own.
//
// # Promises
//
// The same bytes are sent as by net/http, but for the order of the fields, and an answer comes to the same: status,
// fields, body, trailers, interim answers, or an error of the same kind. The head of an answer that is not plain, and
// every body that is not of a known length, are read by net/http's own code from the same connection.
//
// A request is sent again, on another connection, as net/http does it: if the connection was used before, and ended
// before the first byte of an answer, and the request may be repeated (GET, HEAD, OPTIONS, TRACE or with an
// Idempotency-Key, without a body or with GetBody) or nothing of it had been written.
//
// The end of a context closes the connection of its call, and the call fails with its cause.
//
// # Choices
//
// Nobody reads a connection that is idle. Before it is used again, and every ten seconds, it is asked without waiting
// whether something has come: its end, or bytes. Such a connection is closed. So what a service sends beyond an answer
// is never taken for the next one, and no request goes to a connection that is known to have ended. That takes one
// system call. Where a connection cannot be asked so (Windows), net/http does everything.
//
// A body of a request is read before anything is sent: a client that is slow, or breaks off, keeps no connection and is
// no work for the service. Above 16 KiB it is sent while it comes.
//
// An answer with a status below 100 is an error, because no handler can write it. One of 101 that nobody asked for has
// no body, and its connection is closed.
//
// There is no setting that turns it off. Both clients do the same, and a difference is a fault of this package.
//
// Of the hooks of httptrace the ones about connections that are sought and put back, and about single fields, are
// called by net/http alone, which gets the requests that have them.
package upstream
