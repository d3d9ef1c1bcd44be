// Package clients lets other people's software sign in, unmodified and with its defaults, at a whole service with
// the defaults of keystile.New: in browsers, on Node, in Python, Ruby and Perl, and Apache. It holds tests only. Those
// in Go that bring much along are in package rp, a module of its own. The table of all, examples/CLIENTS.md, is held
// equal to what ran.
package clients
