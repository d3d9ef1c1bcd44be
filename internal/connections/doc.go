// Package connections bounds what a client can hold open: how many connections, how long a
// request's body may take to arrive, how long an answer may take to be read, and how long
// a connection may be silent (decision 58).
//
// # Choices
//
// Only the time that the service waits for the client is measured, never the time that a client
// waits for the service: a service behind the gateway that reads an upload slowly, or a stream with
// nothing to say, is not held against the client.
//
// A body has 30 s, and a second more for every 64 KiB that came, or for as many bytes as the
// handler says once it knows the caller (SetBodyRate). That also holds when the handler has
// refused the request without reading it, but then for 5 s only: net/http
// reads the rest of a small body before it answers, and closes the connection after it if
// the rest does not come. Bytes are counted as they come over the connection, so that chunks
// of one byte gain little.
//
// An answer may be stuck for 30 s, and earns a second for every KiB that is taken, up to 30 s
// again. On Linux it is the client's acknowledgements that count, so that a slow but steady client
// is not cut while the kernel's buffer has a lot for it. There, the kernel also takes 128 KiB at
// most that it cannot send yet: its buffers may grow to 4 MiB for each connection, which a few
// thousand that do not read would make gigabytes, and seconds of copying for which all others wait.
// Multipath TCP knows no such bound, so it is not spoken. Streams and WebSockets are under the same
// rule, which asks nothing of them while they are silent; a connection over which no byte has gone
// in either direction for an hour is closed (setting limits.stream_idle; it may take half as long
// again). A client that has sent a request with a body and has no answer yet is not silent but
// waits: how long it may wait is for the handler to say.
//
// Connections are counted as they are accepted, before anything is read: 256 of one IPv4 address or
// IPv6 /64, and no more for one that holds a quarter of what is still free, so that a few addresses
// cannot take them all. A trusted proxy stands for many clients, and only the total bounds it. That
// total is half of the files the process may open, because a call that is handed on needs a second
// one, less a reserve for the store, the logs and the operators. Connections beyond these bounds
// are closed with a reset, which leaves nothing behind in the kernel.
//
// Deadlines are kept cheap. For reading there is one alarm, which is moved only to be earlier: it
// is left with what net/http sets to end a Read at once, where that is under way in the kernel. Mostly it
// is not: net/http's wait for the client to leave, begun and ended in each request, goes to the kernel
// after 10 to 20 ms only. So a handler learns by so much later that its client has left. A server without
// limits sets six deadlines for each request. A write only looks whether the last deadline is still far
// enough away. Nothing is cut into pieces: a deadline that passes within a large write says how much went
// out, and the rest goes on if that was enough.
//
// The limits know HTTP/1.1 without TLS, which is all that the program speaks: cmd/keystile puts
// them around its own listeners. An embedding host brings its own server and its own bounds.
package connections
