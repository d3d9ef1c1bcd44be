// Package smuggling sends what is known to be read in two ways, by a proxy and by the server behind it, to
// internal/plainhttp and to net/http: directly, and through nginx, HAProxy and Caddy. Both must see the same requests
// and answer alike. It holds tests only.
//
// # Choices
//
// The shapes are those of RFC 9112 (11.2) and of the public lists of request smuggling: a Content-Length against a
// Transfer-Encoding that only one side reads, two lengths, lengths that are no plain numbers, lines that end or are
// folded otherwise, chunks that are written otherwise, and targets and versions out of the ordinary. Each carries a
// request that the other reading would reveal. The proxies are told to let through what they would drop by themselves,
// where they can be, because the server is the last that may misread it.
package smuggling
